"""The Streamlit application: a thin skin over `core`."""
