"""Binary records of patients: diagnoses in three characters, drugs, an outcome."""

from __future__ import annotations

import csv
import gzip
import io
import zipfile
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy import sparse

# Codes that cover this share of all diagnoses are kept (thesis 001, section 6.4.1).
KEPT_CODES = 0.9
LEAST_CODES = 3

DRUGS = slice("metformin", "metformin-pioglitazone")


@dataclass(frozen=True)
class Records:
    """Rows of zeros and ones with what is to be predicted."""

    name: str
    rows: sparse.csr_array
    names: list[str]
    target: np.ndarray
    noun: str


def read_diabetes(folder: Path) -> Records:
    """Read Diabetes 130-US hospitals: stays, and whether another one followed."""
    archive = zipfile.ZipFile(folder / "diabetes130" / "dataset_diabetes.zip")
    codes: list[set[str]] = []
    drugs: list[set[str]] = []
    target = []
    with archive.open("dataset_diabetes/diabetic_data.csv") as file:
        reader = csv.DictReader(io.TextIOWrapper(file, encoding="utf-8"))
        columns = list(reader.fieldnames or [])
        taken = columns[columns.index(DRUGS.start) : columns.index(DRUGS.stop) + 1]
        for line in reader:
            told = [line[f"diag_{j}"] for j in (1, 2, 3)]
            known = [code for code in told if code not in ("?", "")]
            if len(known) < LEAST_CODES:
                continue
            codes.append({shorten(code) for code in known})
            drugs.append({drug for drug in taken if line[drug] != "No"})
            target.append(line["readmitted"] != "NO")
    rows, names = encode(codes, drugs)
    return Records("diabetes-130", rows, names, np.array(target), "readmission")


def read_mimic(folder: Path) -> Records:
    """Read MIMIC-III, the demo or the whole: stays, and whether they outlast a week."""
    base = folder / "mimic3_demo"
    told: dict[str, set[str]] = defaultdict(set)
    for line in read_table(base / "DIAGNOSES_ICD.csv.gz"):
        if line["icd9_code"]:
            told[line["hadm_id"]].add(shorten(line["icd9_code"]))
    codes, target = [], []
    for line in read_table(base / "ADMISSIONS.csv.gz"):
        found = told.get(line["hadm_id"], set())
        if len(found) < LEAST_CODES:
            continue
        codes.append(found)
        begun, ended = (np.datetime64(line[k]) for k in ("admittime", "dischtime"))
        target.append(bool(ended - begun > np.timedelta64(7, "D")))
    rows, names = encode(codes, [set() for _ in codes])
    return Records("MIMIC-III demo", rows, names, np.array(target), "stay over a week")


def read_table(path: Path) -> list[dict[str, str]]:
    """Return the lines of a compressed CSV file, columns in lower case."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [
            {key.lower(): value for key, value in line.items()}
            for line in csv.DictReader(file)
        ]


def shorten(code: str) -> str:
    """Return the first three characters of an ICD-9 code (four of an E code)."""
    plain = code.strip().partition(".")[0]
    return plain[:4] if plain.startswith("E") else plain[:3]


def encode(
    codes: list[set[str]], drugs: list[set[str]]
) -> tuple[sparse.csr_array, list[str]]:
    """Return zeros and ones for frequent codes and for drugs in use."""
    counts = Counter(code for found in codes for code in sorted(found))
    total, covered, kept = sum(counts.values()), 0, []
    for code, count in counts.most_common():
        if covered >= KEPT_CODES * total:
            break
        kept.append(code)
        covered += count
    used = Counter(drug for found in drugs for drug in sorted(found))
    kept += [drug for drug, n in used.most_common() if n >= 0.001 * len(drugs)]
    place = {name: j for j, name in enumerate(kept)}
    indices, bounds = [], [0]
    for found, taken in zip(codes, drugs, strict=True):
        indices += sorted(place[name] for name in found | taken if name in place)
        bounds.append(len(indices))
    rows = sparse.csr_array(
        (
            np.ones(len(indices)),
            np.array(indices, dtype=np.int32),
            np.array(bounds, dtype=np.int32),
        ),
        shape=(len(codes), len(kept)),
    )
    return rows, kept
