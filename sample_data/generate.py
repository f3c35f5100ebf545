"""Write the sample tables ``census.csv`` and ``clinic.csv``; nobody in them is real.

Every row is drawn from the structural equations below; no number in them was estimated from records of
people. An attribute depends on what stands right of its arrow. *Wealth*, *severity* and *shock* are latent:
drawn, used and never written.

Census, working adults of an invented country (age, sex, region and wealth depend on nothing)::

    education          <- age, region, wealth
    years_of_schooling <- age, education
    marital_status     <- age, sex
    relationship       <- age, marital_status
    employer           <- age, years_of_schooling
    occupation         <- age, sex, region, years_of_schooling
    hours_per_week     <- age, sex, marital_status, employer, occupation
    capital_gain       <- age, years_of_schooling, wealth
    capital_loss       <- age, years_of_schooling, wealth, capital_gain
    commute_minutes    <- region, employer, occupation
    income             <- all but sex, education, relationship, commute_minutes and wealth

Clinic, patients of an invented emergency department (age and sex depend on nothing)::

    smoker             <- age, sex
    complaint          <- age
    severity           <- age, smoker, complaint
    shock              <- severity
    prior_visits       <- age, smoker
    pain_score         <- complaint, severity
    temperature_c      <- complaint, severity, shock
    systolic_bp        <- age, shock
    heart_rate         <- age, temperature_c, pain_score, severity, shock
    arrival            <- age, severity
    triage             <- age, complaint, arrival, temperature_c, systolic_bp, heart_rate, pain_score
    missing cells      <- arrival

Both labels are a score plus logistic noise, cut at fixed thresholds, and no classifier can predict the noise.
The seed is fixed: another run with the same NumPy and pandas writes the same bytes.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

HERE = Path(__file__).parent
SEED = 20180401

# education: weight, log-odds per unit of advantage, youngest age, least and most years of schooling
EDUCATION = {
    "Primary school": (0.30, -1.3, 17, 3, 6),
    "Middle school": (0.60, -1.1, 17, 7, 8),
    "Some high school": (1.30, -0.8, 17, 9, 11),
    "High school": (4.00, -0.3, 18, 12, 12),
    "Some college": (2.20, 0.0, 19, 13, 14),
    "Trade certificate": (1.30, -0.1, 20, 13, 13),
    "Associate degree": (1.10, 0.2, 21, 14, 14),
    "Bachelor": (2.30, 0.8, 22, 15, 16),
    "Master": (0.75, 1.2, 24, 17, 18),
    "Professional": (0.22, 1.4, 26, 19, 19),
    "Doctorate": (0.18, 1.5, 27, 19, 20),
}

# occupation: weight, log-odds per year of schooling, log-odds for women, hours above 40, effect on income
OCCUPATION = {
    "Manager": (1.30, 0.35, -0.4, 5, 2.0),
    "Finance": (0.50, 0.50, 0.0, 2, 1.8),
    "Engineer": (0.40, 0.55, -0.9, 2, 2.0),
    "Technician": (0.80, 0.20, -0.2, 0, 0.8),
    "Health professional": (0.35, 0.50, 0.6, 2, 1.4),
    "Teacher": (0.40, 0.50, 0.6, -1, 0.2),
    "Clerk": (1.60, 0.05, 0.8, -2, -0.3),
    "Sales": (1.60, 0.05, 0.0, 0, 0.4),
    "Craft": (2.20, -0.20, -1.9, 1, 0.1),
    "Machine operator": (1.10, -0.35, -0.8, 0, -0.6),
    "Driver": (1.10, -0.25, -1.7, 3, -0.3),
    "Farm worker": (0.60, -0.40, -1.0, 6, -2.0),
    "Security": (0.40, -0.05, -1.0, 0, 0.0),
    "Care worker": (0.50, -0.10, 1.4, -5, -1.5),
    "Food service": (0.80, -0.25, 0.5, -7, -2.0),
    "Cleaner": (0.50, -0.45, 0.5, -5, -2.0),
}

# complaint: weight, log-odds per 10 years of age, mean severity, mean pain, mean fever (°C), effect on triage
COMPLAINT = {
    "Chest pain": (0.80, 0.28, 0.9, 5.0, 0.0, 1.6),
    "Breathlessness": (0.80, 0.22, 1.0, 1.5, 0.3, 1.5),
    "Cough": (1.30, -0.08, -0.7, 1.0, 0.6, -0.8),
    "Abdominal pain": (1.50, 0.00, 0.2, 5.5, 0.2, 0.4),
    "Vomiting": (0.90, -0.10, -0.1, 2.5, 0.3, -0.2),
    "Headache": (0.90, -0.03, -0.3, 5.0, 0.1, -0.4),
    "Dizziness": (0.70, 0.20, 0.1, 1.0, 0.0, 0.2),
    "Fever": (1.10, -0.15, 0.0, 1.5, 1.7, 0.0),
    "Rash": (0.70, -0.12, -1.0, 1.5, 0.2, -1.6),
    "Fracture": (0.90, 0.02, 0.0, 6.5, 0.0, 0.2),
    "Sprain": (1.30, -0.15, -1.0, 4.5, 0.0, -1.6),
    "Wound": (1.10, -0.12, -0.5, 3.0, 0.0, -0.7),
    "Head injury": (0.60, 0.02, 0.6, 4.0, 0.0, 1.3),
}

Floats = NDArray[np.float64]
Texts = NDArray[np.str_]


def choose(rng: np.random.Generator, rows: int, weights: Mapping[str, ArrayLike]) -> Texts:
    """Draw one category a row; a weight is relative, >= 0, one number or shape (rows,)."""
    cumulative = np.cumsum([np.broadcast_to(weight, rows) for weight in weights.values()], axis=0)
    drawn: Texts = np.array(list(weights))[(cumulative <= rng.random(rows) * cumulative[-1]).sum(axis=0)]
    return drawn


def effect(values: Texts, table: Mapping[str, float]) -> Floats:
    """Look up a number for each value, shape (rows,); a category that the table leaves out has 0."""
    return np.array([table.get(value, 0.0) for value in values.tolist()], dtype=np.float64)


def parameter(table: Mapping[str, tuple[float, ...]], index: int) -> dict[str, float]:
    """One parameter of every category."""
    return {category: parameters[index] for category, parameters in table.items()}


def whole(values: ArrayLike, low: int, high: int) -> NDArray[np.int64]:
    """Round to whole numbers in [low, high]."""
    return np.clip(np.rint(values), low, high).astype(np.int64)


def sigmoid(values: ArrayLike) -> Floats:
    """Turn log-odds into probabilities."""
    return 1 / (1 + np.exp(-np.asarray(values, dtype=np.float64)))


# The formatter would give every argument of a draw its own line and hide which equation it is.
# fmt: off

def census(rng: np.random.Generator, rows: int) -> pd.DataFrame:
    """Draw the census-like table: 13 attributes and the label ``income``."""
    age = np.floor(17 + 74 * rng.beta(1.4, 2.5, rows)).astype(np.int64)
    sex = choose(rng, rows, {"Female": 0.47, "Male": 0.53})
    region = choose(rng, rows, {
        "Harbour City": 0.22, "North Shore": 0.10, "South Shore": 0.09,
        "Capital District": 0.18, "River Valley": 0.13, "Lake District": 0.09,
        "Upper Highlands": 0.06, "Lower Highlands": 0.09, "Islands": 0.04,
    })
    wealth = rng.normal(size=rows)
    woman, city = sex == "Female", np.isin(region, ["Harbour City", "Capital District"])

    advantage = 0.6 * wealth + 0.5 * city - 0.025 * np.maximum(age - 45, 0)
    education = choose(rng, rows, {
        name: weight * np.exp(slope * advantage) * (age >= youngest)
        for name, (weight, slope, youngest, _, _) in EDUCATION.items()
    })
    least, most = (effect(education, parameter(EDUCATION, index)).astype(np.int64) for index in (3, 4))
    schooling = np.minimum(rng.integers(least, most + 1), age - 5)
    learned = schooling - 12

    marital_status = choose(rng, rows, {
        "Married": 1.1 * sigmoid((age - 28) / 4),
        "Civil union": 0.10 * sigmoid((age - 24) / 3),
        "Never married": 1.8 * np.exp((17 - age) / 9) + 0.13,
        "Divorced": 0.30 * sigmoid((age - 40) / 6),
        "Separated": 0.07 * sigmoid((age - 34) / 6),
        "Widowed": (0.5 + 0.6 * woman) * sigmoid((age - 74) / 6),
    })
    couple, never = np.isin(marital_status, ["Married", "Civil union"]), marital_status == "Never married"
    relationship = choose(rng, rows, {
        "Spouse": np.where(couple, 0.97, 0),
        "Unmarried partner": np.where(couple, 0, 0.15 * sigmoid((age - 22) / 2)),
        "Child": np.where(never, 1.5 * sigmoid((24 - age) / 3), 0.01),
        "Single parent": np.where(couple, 0.002, np.where(never, 0.06, 0.25) * sigmoid((age - 24) / 3)),
        "Other relative": np.where(couple, 0.01, 0.06),
        "Lives alone": np.where(couple, 0.01, 0.45 * sigmoid((age - 24) / 4)),
        "Housemate": np.where(couple, 0.003, 0.20 * sigmoid((36 - age) / 5) + 0.02),
    })

    employer = choose(rng, rows, {
        "Company": 0.66, "Non-profit": 0.05 * np.exp(0.10 * learned),
        "Federal": 0.03 * np.exp(0.08 * learned), "State": 0.04 * np.exp(0.15 * learned),
        "Local": 0.06 * np.exp(0.12 * learned), "Own business": 0.04 * np.exp(0.025 * (age - 40)),
        "Freelance": 0.08, "Family helper": 0.006,
    })
    occupation = choose(rng, rows, {
        name: weight * np.exp(slope * learned + women * woman)
        * (sigmoid((age - 27) / 3) if name == "Manager" else 0.1**city if name == "Farm worker" else 1)
        for name, (weight, slope, women, _, _) in OCCUPATION.items()
    })
    own = employer == "Own business"
    part_time = sigmoid(2.2 * (age < 22) + 2.0 * (age > 66) + 0.9 * (woman & couple) - 2.8)
    longer = effect(occupation, parameter(OCCUPATION, 3)) + 8 * own
    full_time = np.where(rng.random(rows) < 0.5 - 0.3 * own, 40, rng.normal(42 + longer, 6))
    hours = whole(np.where(rng.random(rows) < part_time, rng.normal(22, 7, rows), full_time), 1, 99)

    invests = sigmoid(-3.1 + 0.8 * wealth + 0.03 * (age - 40) + 0.16 * learned)
    sold, lost = rng.random(rows) < invests, rng.random(rows) < 0.6 * invests
    gain = np.where(sold, whole(np.exp(rng.normal(8.6 + 0.4 * wealth, 0.9)), 50, 99_999), 0)
    loss = np.where(lost & ~sold, whole(rng.normal(1800 + 120 * wealth, 380), 100, 4_900), 0)
    at_home = rng.random(rows) < np.where(np.isin(employer, ["Freelance", "Own business"]), 0.20, 0.05)
    near = np.isin(occupation, ["Farm worker", "Teacher"])
    commute = np.where(at_home, 0, whole(rng.gamma(2.2, (11 + 4 * city) * (1 - 0.4 * near)), 1, 180))

    score = (
        effect(occupation, parameter(OCCUPATION, 4)) - 3.3
        + effect(marital_status, {"Married": 2.1, "Civil union": 1.8, "Never married": -0.6})
        + effect(employer, {"Own business": 0.6, "Federal": 0.5, "Freelance": -0.5, "Family helper": -4.0})
        + 0.35 * np.maximum(learned, -5) + 0.07 * np.clip(hours - 40, -25, 15)
        - 0.9 * np.minimum(((age - 50) / 14) ** 2, 5)
        + 6.0 * (gain > 5_000) - 1.0 * ((gain > 0) & (gain <= 2_500))
        + 2.0 * (loss > 1_500) + 0.4 * city
    )
    income = np.where(0.85 * score + rng.logistic(size=rows) > 0, "50k or more", "under 50k")
    return pd.DataFrame({
        "age": age, "sex": sex, "region": region, "education": education, "years_of_schooling": schooling,
        "marital_status": marital_status, "relationship": relationship, "employer": employer,
        "occupation": occupation, "hours_per_week": hours, "capital_gain": gain, "capital_loss": loss,
        "commute_minutes": commute, "income": income,
    })


def clinic(rng: np.random.Generator, rows: int) -> pd.DataFrame:
    """Draw the clinic-like table: 10 attributes, two with missing cells, and the label ``triage``."""
    child = rng.random(rows) < 0.18
    age = whole(np.where(child, rng.gamma(1.6, 5, rows), 15 + 85 * rng.beta(1.3, 1.8, rows)), 0, 100)
    sex = choose(rng, rows, {"Female": 0.51, "Male": 0.49})
    adult = sigmoid((age - 18) / 1.5) * (age > 13)
    smoker = choose(rng, rows, {
        "Never": 1.2, "Former": 0.5 * adult * sigmoid((age - 40) / 10),
        "Current": 0.45 * adult * np.where(sex == "Male", 1.3, 1),
    })
    complaint = choose(rng, rows, {
        name: weight * np.exp(slope * (age - 40) / 10) for name, (weight, slope, *_) in COMPLAINT.items()
    })
    ill, hurt, fever, urgent = (effect(complaint, parameter(COMPLAINT, index)) for index in (2, 3, 4, 5))

    severity = rng.normal(ill + 0.02 * (age - 45) + effect(smoker, {"Former": 0.15, "Current": 0.3}))
    shock = rng.random(rows) < sigmoid(1.1 * severity - 3.9)
    prior_visits = np.minimum(rng.poisson(rng.gamma(0.7, 1 + 0.02 * age + (smoker == "Current"))), 30)
    pain = whole(hurt + 0.6 * severity + rng.normal(0, 1.8, rows), 0, 10)
    warmth = fever * rng.gamma(3, 0.33, rows) + 0.15 * severity - shock * rng.gamma(2, 0.5, rows)
    temperature = np.clip(36.8 + warmth + rng.normal(0, 0.35, rows), 34, 42).round(1)
    grown = 85 + 40 * sigmoid((age - 8) / 5) + 0.3 * np.maximum(age - 40, 0)
    pressure = whole(grown - 40 * shock + rng.normal(0, 10 + 0.15 * age), 60, 240)
    young = 45 * np.exp(-age / 5)
    pulse = 74 + young + 9 * (temperature - 37) + pain + 5 * severity + 25 * shock
    heart_rate = whole(rng.normal(pulse, 9), 30, 200)
    arrival = choose(rng, rows, {
        "On foot": 0.6 * np.exp(-0.4 * severity), "Private car": 1.0,
        "Family doctor": 0.25, "Care home": 0.4 * sigmoid((age - 80) / 4),
        "Ambulance": 0.35 * np.exp(0.7 * severity + 0.01 * (age - 40)),
        "Helicopter": 0.008 * np.exp(0.9 * severity), "Police": 0.02 * (age > 15),
    })

    score = (
        urgent + effect(arrival, {"Ambulance": 1.6, "Helicopter": 4.0, "Care home": 0.4, "On foot": -0.8})
        + 0.6 * (temperature > 37.5) + 1.6 * (temperature > 38.5)
        + 2.6 * ((pressure <= 90) & (age > 12)) + 0.9 * (pressure > 180)
        + 1.2 * (heart_rate - young > 100) + 1.8 * (heart_rate - young > 120)
        + 1.1 * (pain > 6) + 0.7 * (age > 65) + 0.8 * (age < 3)
    )
    noisy = 1.6 * score + rng.logistic(size=rows)
    triage = np.where(noisy > 4.7, "emergency", np.where(noisy > 1.2, "urgent", "routine"))

    unmeasured = rng.random(rows) < np.where(arrival == "On foot", 0.03, 0.01)
    unasked = rng.random(rows) < np.where(np.isin(arrival, ["Ambulance", "Helicopter"]), 0.04, 0.01)
    return pd.DataFrame({
        "age": age, "sex": sex, "smoker": pd.Series(smoker).mask(unasked), "prior_visits": prior_visits,
        "complaint": complaint, "arrival": arrival, "temperature_c": pd.Series(temperature).mask(unmeasured),
        "systolic_bp": pressure, "heart_rate": heart_rate, "pain_score": pain, "triage": triage,
    })

# fmt: on


def write(name: str, draw: Callable[[np.random.Generator, int], pd.DataFrame]) -> None:
    """Draw as many rows as the sample's schema declares and write them as UTF-8 CSV."""
    schema: dict[str, Any] = json.loads((HERE / f"{name}_schema.json").read_text(encoding="utf-8"))
    table = draw(np.random.default_rng(SEED), schema["size"])
    table.to_csv(HERE / schema["table"], index=False, encoding="utf-8", lineterminator="\n")


if __name__ == "__main__":
    write("census", census)
    write("clinic", clinic)
