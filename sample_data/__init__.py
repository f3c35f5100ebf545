"""Sample tables about invented people, with the schema and the taxonomies that go with them."""

from pathlib import Path

SAMPLES: dict[str, str] = {"census": "census_schema.json", "clinic": "clinic_schema.json"}
"""The schema file of each sample, by the sample's name."""


def sample_path(name: str) -> Path:
    """Where a file of this package lies.

    Parameters
    ----------
    name : str
        A sample's name, which stands for its schema, or a file name as a schema gives it.

    Returns
    -------
    pathlib.Path

    Raises
    ------
    FileNotFoundError
        When the package has no such file.

    Examples
    --------
    >>> sample_path("census").name
    'census_schema.json'
    >>> sample_path("clinic.csv").name
    'clinic.csv'
    """
    path = Path(__file__).parent / SAMPLES.get(name, name)
    if not path.is_file():
        raise FileNotFoundError(f"sample {name!r} must be one of {', '.join(SAMPLES)}, or one of their files")
    return path
