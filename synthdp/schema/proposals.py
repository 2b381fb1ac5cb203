"""Kinds that the names of columns suggest: a proposal for whoever knows the table, and no more.

Names are public, values are not: nothing here reads one. A name that suggests nothing gets no
proposal, as a wrong one that is overlooked costs more than a missing one.
"""

import re

_WHOLE = {
    "id": "id nr nummer number key uuid guid kennung kennziffer aktenzeichen",
    "integer": "age alter anzahl count anz tage days dauer duration punkte score puls pulse",
    "number": """
        eur euro usd prozent percent preis price bmi temperatur temperature größe groesse
        height zuzahlung gebühr miete rent umsatz lohn wage
    """,
    "categorical": """
        plz zip icd ops code sex gender typ type art status land country region ort city
        stadt kasse beruf job occupation marital education group bezirk kreis stufe level
        kategorie category grund reason raucher smoker sprache language herkunft origin
        konfession religion nation race ethnicity privat priorität priority
    """,
    "date": """
        date datum aufnahme entlassung admission discharge dob geboren geburtstag birthday
        eingang ausgang beginn
    """,
    "datetime": "timestamp zeitstempel datetime",
    "time": "time uhrzeit",
    "year": "year jahr",
    "name": "name fullname",
    "first_name": "vorname firstname forename",
    "last_name": "nachname familienname lastname surname",
    "email": "email mail",
    "phone": "telefon phone handy mobil mobile tel fax",
    "address": "adresse anschrift address strasse straße street",
    "company": "firma company arbeitgeber employer",
    "ignore": """
        bemerkung bemerkungen kommentar notiz notizen freitext comment comments note
        notes remark remarks memo
    """,
}
"""Words of names, by the kind that a whole one suggests."""

_ENDS = {
    "id": "nummer kennung",
    "date": "datum date",
    "year": "jahr",
    "name": "patientenname kundenname personenname",
    "categorical": """
        geschlecht diagnose station abteilung postleitzahl leistung versicherung klasse
        gruppe stand angehörigkeit land bezirk kreis kasse beruf abschluss bildung
        schlüssel form fach status grund grad stufe kategorie raucher kehrer
    """,
    "integer": "alter anzahl dauer punkte tage",
    "number": "gewicht weight betrag amount kosten costs income einkommen gehalt zahlung",
    "ignore": "hinweis hinweise bemerkung kommentar notiz freitext",
}
"""Ends of longer words, which German joins."""

_COUNT = re.compile(r"\b(number|count|anzahl|zahl)\s+(of|der|von)\b")
_MEASURE = re.compile(
    r"[€$£%]|[\[(]\s*(cm|kg|mm|m(?!/)|km|g|mg|µg|ml|l|mmol|eur|usd|h|min)\b[^\])]*[\])]"
)
_RELATED = re.compile(r"\s(?:of|der|des|von|for|für|bei|at)\s")


def proposed_kind(name: str) -> str:
    """The kind that the name of a column suggests, as a kinds file calls it; empty if none.

    What a name is about stands last, or before "of": the date of a diagnosis is a date.

    >>> [proposed_kind(each) for each in ("Geburtsdatum", "Fall-Nr.", "CRP [mg/l]", "remarks")]
    ['date', 'id', 'number', 'ignore']
    >>> (
    ...     proposed_kind("date of diagnosis"),
    ...     proposed_kind("Diagnosedatum"),
    ...     proposed_kind("Zufriedenheit"),
    ... )
    ('date', 'date', '')
    """
    apart = re.sub(r"(?<=[a-zäöüß])(?=[A-ZÄÖÜ])", " ", name).lower()  # birthDate
    if _COUNT.search(apart):
        return "integer"
    if _MEASURE.search(apart):
        return "number"
    words = re.findall(r"[^\W_]+", _RELATED.split(apart)[0])
    return next(filter(None, map(_kind_of_word, reversed(words))), "")


def _kind_of_word(word: str) -> str:
    whole = (kind for kind, words in _WHOLE.items() if word in words.split())
    end = (kind for kind, ends in _ENDS.items() if word.endswith((*ends.split(),)))
    return next(whole, next(end, ""))
