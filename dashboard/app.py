"""Page configuration and navigation, nothing else."""

import streamlit as st

from dashboard.layout import PAGES, sidebar
from dashboard.state import workspace
from dashboard.warm import warm_up

st.set_page_config(page_title="PrivPfC", page_icon=":material/shield_person:", layout="wide")
warm_up()
page = st.navigation(
    [
        st.Page(
            file, title=title, icon=f":material/{icon}:", url_path=title.lower().replace(" ", "-"), default=title == "Data"
        )
        for title, (file, icon) in PAGES.items()
    ]
)
current = workspace()
page.run()
sidebar(current)
