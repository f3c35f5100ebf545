"""PrivPfC: differentially private publication of tables about people, kept good for classification.

The engine of the project, usable without the dashboard.  The stages follow the way of the data:
``source`` → ``contingency`` → ``grid`` → ``pool`` → ``mechanisms`` → ``release`` → ``synthesis`` → ``bundle``;
``evaluation`` is for the curator only.
"""

__version__ = "0.1.0"
