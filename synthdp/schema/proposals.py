"""Kinds that the names of columns suggest, as `questions` calls them: a proposal for whoever knows
the table, and no more.

Names are public, values are not: nothing here reads one. A name that suggests nothing gets no
proposal, as a wrong one that is overlooked costs more than a missing one.
"""

import re

_WHOLE = {
    "": """
        tag montag dienstag donnerstag freitag samstag sonntag feiertag werktag
        alltag mittag vormittag nachmittag hashtag candidate mandate
    """,
    "id": "id nr nummer number key uuid guid kennung kennziffer aktenzeichen",
    "integer": "age alter anzahl count anz tage days dauer duration punkte score puls pulse",
    "number": """
        eur euro usd prozent percent preis price bmi temperatur temperature größe groesse
        height zuzahlung gebühr miete rent umsatz lohn wage
    """,
    "categorical": """
        icd ops code sex gender typ type art status land country region ort city
        stadt kasse beruf job occupation marital education group bezirk kreis stufe level
        kategorie category grund reason raucher smoker sprache language herkunft origin
        konfession religion nation race ethnicity privat priorität priority wochentag weekday
    """,
    "date": """
        date datum aufnahme entlassung admission discharge dob geboren geburtstag birthday
        eingang ausgang beginn
    """,
    "datetime": "timestamp zeitstempel datetime",
    "time": "time uhrzeit",
    "year": "year jahr",
    "postcode": "plz zip",
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
"""Words of names, by the kind that a whole one suggests; those that end as others do, and are
nothing of that kind, suggest none.
"""

_ENDS = {
    "id": "nummer kennung",
    "date": "datum date tag",
    "year": "jahr",
    "postcode": "postleitzahl plz",
    "name": "patientenname kundenname personenname",
    "categorical": """
        geschlecht diagnose station abteilung leistung versicherung klasse
        gruppe stand angehörigkeit land bezirk kreis kasse beruf abschluss bildung
        schlüssel form fach status grund grad stufe kategorie category raucher kehrer
        art typ
    """,
    "integer": "alter anzahl dauer punkte tage",
    "number": "gewicht weight betrag amount kosten costs income einkommen gehalt zahlung",
    "ignore": """
        hinweis hinweise bemerkung bemerkungen kommentar kommentare notiz notizen freitext
        anmerkung anmerkungen
    """,
}
"""Ends of longer words, which German joins."""

_COUNT = re.compile(r"\b(number|count|anzahl|zahl)\s+(of|der|von)\b")
_MEASURE = re.compile(
    r"[€$£%]|[\[(]\s*(cm|kg|mm|m(?!/)|km|g|mg|µg|ml|l|mmol|eur|usd|h|min)\b[^\])]*[\])]"
)
_PERIODS = ("jahr", "year", "monat", "month", "woche", "week", "tag", "day", "stunde", "hour")
_RATE = re.compile(
    # "km/Jahr" and "Besuche je Jahr", but not "Monat/Jahr"
    rf"(?<!\s){''.join(f'(?<!{each})' for each in _PERIODS)}\s*/\s*({'|'.join(_PERIODS)})\b"
    rf"|\b(pro|je|per)\s+({'|'.join(_PERIODS)})\b"
)
_OPEN_QUESTION = re.compile(
    r"(wer|wie|was|wann|wo|warum|welche\w?|who|what|when|where|why|which|how)\b"
)
"""Begins a question whose answer is neither yes nor no."""

_WEAK = ("", "categorical")
"""Proposals that a clearer sign outweighs."""

_NO_ENDS = ("start", "chart", "part", "heart", "cart", "wart", "smart", "halter", "walter")
"""Ends that only look like one of `_ENDS`."""

_NUMBERED = re.compile(
    r"(pat|patient|kunde|person|mensch|klient|mandant|proband|bewohner|schüler|studierende|teilnehmer"
    r"|nutzer|mitglied|mitarbeiter|haushalt|versicherte|versicherungsnehmer|customer|client|subject"
    r"|member|user|student|employee|participant|household|policyholder)(s|n|en|innen)?"
    r"[^a-zäöüß]*(id|nr|no|nummer|number|key|kennung|kennziffer)[^a-zäöüß]*"
)
"""Names of columns that number persons."""

_STEPS = re.compile(r"selbst(beteiligung|behalt)|deductible")
"""Amounts of which there are few, so that they are codes."""

_RELATED = re.compile(r"\s(?:of|der|des|von|for|für|bei|at)\s")


def proposed_kind(name: str) -> str:
    """The kind that the name of a column suggests, as an answer calls it; empty if none.

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
    apart = re.sub(r"(?<=[a-zäöüß])(?=[A-ZÄÖÜ])", " ", name).strip().lower()  # birthDate
    if _COUNT.search(apart):
        return "integer"
    if _STEPS.search(apart):
        return "categorical"
    if _MEASURE.search(apart) or _RATE.search(apart):
        return "number"
    words = re.findall(r"[^\W_]+", _RELATED.split(apart)[0])
    kind = next(filter(None, map(_kind_of_word, reversed(words))), "")
    is_yes_or_no = words and apart.endswith("?") and not _OPEN_QUESTION.match(apart)
    if is_yes_or_no and (len(words) > 1 or kind in _WEAK):
        return "boolean"
    if words[1:] and words[-1] == "am":  # "erledigt am"
        return "date"
    # German says first that it is a remark, and then on what.
    is_remark = "".join(words[:1]).endswith((*_ENDS["ignore"].split(),))
    return "ignore" if is_remark and kind in _WEAK else kind


def names_persons(name: str) -> bool:
    """Whether a column seems to number persons by its name, and they may have several rows.

    >>> [names_persons(each) for each in ("Kundennummer", "Pat.-Nr.", "customer_id", "Fallnummer")]
    [True, True, True, False]
    """
    return proposed_kind(name) == "id" and _NUMBERED.fullmatch(name.lower()) is not None


def names_age(name: str) -> bool:
    """Whether a column seems to hold ages by its name.

    >>> [names_age(each) for each in ("Alter Fahrer", "age", "Eintrittsalter", "Halter", "Tage")]
    [True, True, True, False, False]
    """
    words = re.findall(r"[^\W_]+", name.lower())
    ages = (each for each in words if each == "age" or each.endswith("alter"))
    return any(_kind_of_word(each) == "integer" for each in ages)


def _kind_of_word(word: str) -> str:
    whole = (kind for kind, words in _WHOLE.items() if word in words.split())
    end = (kind for kind, ends in _ENDS.items() if word.endswith((*ends.split(),)))
    return next(whole, "" if word.endswith(_NO_ENDS) else next(end, ""))
