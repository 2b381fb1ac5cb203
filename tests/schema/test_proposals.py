"""Kinds that the names of columns suggest."""

import pytest

from synthdp.schema import proposed_kind

NAMES = {
    "number": "Fahrleistung km/Jahr|Verbrauch pro Jahr|Income per year|Besuche je Monat|Kosten / Tag",
    "year": "Baujahr|Führerschein seit (Jahr)|Year|Geburtsjahr|Monat/Jahr",
    "date": """Schadentag|Meldetag|Reguliert am|geboren_am|ErstelltAm|Geburtstag|Eingangsdatum
        |Discharge date|Todestag|Datum der Bemerkung""",
    "categorical": """Schadenart|Fahrzeugklasse|SF-Klasse|Fahrzeugtyp|Schadenkategorie|Wochentag
        |Bundesland|Claim type|Tarifart|Weekday|Art|Comment type|Bemerkungsart""",
    "boolean": "Gutachten nötig?|Raucher?|Insured?|Diagnose bestätigt?|Datum bekannt?",
    "integer": "Alter Fahrer|Alter?|Anzahl der Bemerkungen|Liegetage",
    "ignore": """Bemerkung|Bemerkung Ort|Kommentar|Kommentar Arzt|Notiz|remark|comment|notes
        |Anmerkungen|Bemerkungen zum Schaden|Freitext""",
    "": """Montag|Sonntag|Tag|Nachmittag|Vertrag|Antrag|Feiertag|Projektstart|Chart|Candidate|am
        |Welche Farbe?|Wie oft?|Zufriedenheit|?""",
}


@pytest.mark.parametrize("kind", NAMES)
def test_names_propose_what_they_are_about(kind):
    names = [name.strip() for name in NAMES[kind].split("|")]
    assert {name: proposed_kind(name) for name in names} == dict.fromkeys(names, kind)
