"""The tables behind the made-up census of Kestovia, a country that does not exist.

Every number here is invented: no census, survey or person was looked at. Weights are relative (a
row need not add up to 100); a weight of 0 makes a combination impossible. "15-17" as a key means
ages 15 to 17 inclusive.
"""

SEED = 20210315
N_ROWS = 30_000
CENSUS_DAY = "2021-03-15"
REGISTER_START = "1951-01-01"
INCOME_TOP_CODE = 1_000_000
YES, NO = "yes", "no"

NO_REGION = "no fixed region"
# region: share of people, elderly (x chance of being 65+), degrees (x chance of a university
# degree), abroad (% born abroad), sectors (x chance of an occupation in that sector)
REGIONS = {
    "Ambermoor": {
        "share": 300,
        "elderly": 0.7,
        "degrees": 2.0,
        "abroad": 24,
        "sectors": {
            "office": 1.5,
            "it": 2.5,
            "arts": 2.0,
            "farm": 0.05,
            "mining": 0.02,
            "sea": 0.2,
        },
    },
    "Brackwater": {
        "share": 160,
        "elderly": 1.0,
        "degrees": 1.0,
        "abroad": 12,
        "sectors": {"sea": 9.0, "hotel": 1.5, "mining": 0.1},
    },
    "Cinderfell": {
        "share": 140,
        "elderly": 1.1,
        "degrees": 0.7,
        "abroad": 9,
        "sectors": {"mining": 9.0, "factory": 1.6, "sea": 0.0},
    },
    "Dunhollow": {
        "share": 90,
        "elderly": 1.4,
        "degrees": 0.6,
        "abroad": 4,
        "sectors": {"farm": 3.0, "sea": 0.0},
    },
    "Eastmarch": {
        "share": 110,
        "elderly": 1.0,
        "degrees": 0.8,
        "abroad": 15,
        "sectors": {"factory": 1.8, "transport": 1.7, "sea": 0.0},
    },
    "Fenwold": {
        "share": 80,
        "elderly": 1.3,
        "degrees": 0.6,
        "abroad": 5,
        "sectors": {"farm": 4.5, "sea": 0.3},
    },
    "Greywick": {
        "share": 70,
        "elderly": 0.9,
        "degrees": 1.7,
        "abroad": 11,
        "sectors": {"school": 2.2, "sea": 0.0},
    },
    "Highmere": {
        "share": 49,
        "elderly": 1.2,
        "degrees": 0.9,
        "abroad": 7,
        "sectors": {"hotel": 3.5, "farm": 1.5},
    },
    NO_REGION: {"share": 1, "elderly": 1.0, "degrees": 0.6, "abroad": 30, "sectors": {"sea": 20.0}},
}

# code, name (after its main town), region, number of towns, share of the region's people. A town's
# code is "K-" + its district's code + its number in the district; the n-th town weighs 1/n.
DISTRICTS = [
    ("00", "no fixed address", NO_REGION, 0, 1),
    ("01", "Amber Cross", "Ambermoor", 6, 40),
    ("02", "Moorgate Vell", "Ambermoor", 8, 27),
    ("03", "Tessaly Green", "Ambermoor", 9, 20),
    ("04", "Lower Quillon", "Ambermoor", 17, 13),
    ("05", "Brack Haven", "Brackwater", 9, 45),
    ("06", "Saltmarrow", "Brackwater", 12, 30),
    ("07", "Pell Point", "Brackwater", 14, 25),
    ("08", "Cinder Pits", "Cinderfell", 8, 42),
    ("09", "Ashlock", "Cinderfell", 10, 33),
    ("10", "Blackmere Fell", "Cinderfell", 11, 25),
    ("11", "Dunhollow Stow", "Dunhollow", 12, 40),
    ("12", "Thornaby Vale", "Dunhollow", 15, 35),
    ("13", "Wetherlund", "Dunhollow", 13, 25),
    ("14", "Marchgate", "Eastmarch", 8, 48),
    ("15", "Orlin Junction", "Eastmarch", 10, 30),
    ("16", "Kestrel Ford", "Eastmarch", 12, 22),
    ("17", "Fenwold Staithe", "Fenwold", 12, 38),
    ("18", "Reedhampton", "Fenwold", 14, 34),
    ("19", "Osier Dyke", "Fenwold", 11, 28),
    ("20", "Greywick", "Greywick", 7, 65),
    ("21", "Larkminster", "Greywick", 9, 35),
    ("22", "Highmere Spa", "Highmere", 9, 50),
    ("23", "Corrie Top", "Highmere", 8, 30),
    ("24", "Stannel Pass", "Highmere", 6, 20),
]

SEXES = ["F", "M"]

# age band: people per 1000 of the country, women and men (baby boom in the fifties, women live
# longer)
AGES = {
    "0-4": (23, 24),
    "5-9": (25, 26),
    "10-14": (26, 27),
    "15-19": (26, 27),
    "20-24": (28, 30),
    "25-29": (31, 33),
    "30-34": (33, 34),
    "35-39": (33, 33),
    "40-44": (31, 31),
    "45-49": (32, 32),
    "50-54": (38, 38),
    "55-59": (40, 39),
    "60-64": (35, 34),
    "65-69": (29, 26),
    "70-74": (25, 21),
    "75-79": (20, 15),
    "80-84": (16, 10),
    "85-89": (10, 5),
    "90-94": (4, 1.4),
    "95-99": (1, 0.2),
}
ELDERLY_FROM = 65

MARITAL_STATES = ["never married", "married", "separated", "divorced", "widowed"]
# P(marital | age band, sex): the law lets people marry at 18
MARITAL = {
    "0-17": {"F": (100, 0, 0, 0, 0), "M": (100, 0, 0, 0, 0)},
    "18-20": {"F": (965, 33, 2, 0, 0), "M": (988, 11, 1, 0, 0)},
    "21-24": {"F": (860, 128, 8, 4, 0), "M": (935, 60, 3, 2, 0)},
    "25-29": {"F": (600, 360, 20, 19, 1), "M": (740, 235, 14, 11, 0)},
    "30-39": {"F": (290, 610, 35, 62, 3), "M": (375, 550, 30, 44, 1)},
    "40-49": {"F": (165, 640, 40, 143, 12), "M": (215, 635, 35, 111, 4)},
    "50-59": {"F": (105, 650, 30, 175, 40), "M": (135, 685, 30, 138, 12)},
    "60-69": {"F": (70, 640, 15, 155, 120), "M": (85, 745, 18, 117, 35)},
    "70-79": {"F": (55, 510, 8, 107, 320), "M": (55, 770, 8, 77, 90)},
    "80-99": {"F": (55, 235, 3, 57, 650), "M": (40, 660, 4, 41, 255)},
}

EDUCATIONS = [
    "below primary",
    "primary",
    "lower secondary",
    "upper secondary",
    "vocational",
    "bachelor",
    "master",
    "doctorate",
]
# P(education | age band), before the region's "degrees" factor: highest level completed
EDUCATION = {
    "0-9": (100, 0, 0, 0, 0, 0, 0, 0),
    "10-11": (60, 40, 0, 0, 0, 0, 0, 0),
    "12-14": (4, 96, 0, 0, 0, 0, 0, 0),
    "15-17": (1, 25, 74, 0, 0, 0, 0, 0),
    "18-20": (1, 4, 33, 48, 14, 0, 0, 0),
    "21-22": (1, 3, 18, 45, 25, 8, 0, 0),
    "23-24": (1, 3, 15, 34, 27, 18, 2, 0),
    "25-29": (1, 3, 13, 24, 29, 20, 9.5, 0.5),
    "30-39": (1, 4, 13, 21, 31, 17, 11, 2),
    "40-49": (2, 5, 16, 20, 35, 12, 8, 2),
    "50-64": (2, 9, 22, 17, 36, 7.5, 5, 1.5),
    "65-99": (5, 23, 28, 11, 26, 3.5, 2.5, 1),
}
DEGREES = ["bachelor", "master", "doctorate"]
# how the occupation and pay tables see education
EDUCATION_CLASS = {
    "below primary": "basic",
    "primary": "basic",
    "lower secondary": "basic",
    "upper secondary": "middle",
    "vocational": "middle",
    "bachelor": "bachelor",
    "master": "graduate",
    "doctorate": "graduate",
}
CLASSES = ["basic", "middle", "bachelor", "graduate"]

STATUSES = [
    "child",
    "student",
    "employed",
    "self-employed",
    "unemployed",
    "homemaker",
    "retired",
    "other inactive",
]
WORKING = ["employed", "self-employed"]
# P(status | age band, sex): nobody under 15 works, nobody under 55 is retired
STATUS = {
    "0-14": {"F": (100, 0, 0, 0, 0, 0, 0, 0), "M": (100, 0, 0, 0, 0, 0, 0, 0)},
    "15-17": {"F": (0, 91, 5, 0, 1, 0, 0, 3), "M": (0, 87, 9, 0, 1, 0, 0, 3)},
    "18-20": {"F": (0, 55, 35, 1, 5, 1, 0, 3), "M": (0, 47, 42, 1, 6, 0, 0, 4)},
    "21-24": {"F": (0, 30, 55, 2, 6, 4, 0, 3), "M": (0, 24, 62, 3, 7, 0, 0, 4)},
    "25-29": {"F": (0, 7, 70, 4, 5, 11, 0, 3), "M": (0, 6, 78, 6, 6, 0.5, 0, 3.5)},
    "30-39": {"F": (0, 2, 67, 6, 5, 16, 0, 4), "M": (0, 1, 77, 12, 5, 1, 0, 4)},
    "40-54": {"F": (0, 1, 70, 8, 4, 12, 0, 5), "M": (0, 0, 74, 16, 4, 1, 0, 5)},
    "55-61": {"F": (0, 0, 58, 7, 4, 12, 11, 8), "M": (0, 0, 62, 15, 5, 1, 9, 8)},
    "62-66": {"F": (0, 0, 25, 4, 2, 9, 53, 7), "M": (0, 0, 35, 10, 3, 1, 44, 7)},
    "67-74": {"F": (0, 0, 3, 2, 0, 4, 90, 1), "M": (0, 0, 5, 5, 0, 0, 89, 1)},
    "75-99": {"F": (0, 0, 0, 0.5, 0, 1.5, 98, 0), "M": (0, 0, 0, 1.5, 0, 0, 98.5, 0)},
}
# factors on P(status | age band, sex), by class of education
STATUS_BY_CLASS = {
    "basic": {"unemployed": 2.2, "other inactive": 1.8},
    "middle": {},
    "bachelor": {"unemployed": 0.6, "other inactive": 0.4, "homemaker": 0.6},
    "graduate": {"unemployed": 0.4, "other inactive": 0.3, "homemaker": 0.4},
}

OTHER_OCCUPATION = "other occupation"
# occupation: sector, % women, weight for each class of education (basic, middle, bachelor,
# graduate), pay an hour
OCCUPATIONS = {
    "farmer": ("farm", 25, 20, 22, 5, 2, 11.0),
    "farm hand": ("farm", 35, 26, 6, 0, 0, 9.5),
    "forester": ("farm", 10, 6, 8, 4, 2, 14.0),
    "fisher": ("sea", 5, 9, 4, 0, 0, 12.0),
    "ship's crew": ("sea", 8, 5, 5, 2, 0, 14.5),
    "miner": ("mining", 4, 12, 9, 0, 0, 19.0),
    "quarry engineer": ("mining", 15, 0, 1, 5, 4, 31.0),
    "machine operator": ("factory", 25, 42, 34, 3, 0, 14.5),
    "assembler": ("factory", 45, 34, 14, 1, 0, 12.0),
    "toolmaker": ("factory", 5, 5, 30, 3, 0, 18.5),
    "food packer": ("factory", 62, 26, 7, 0, 0, 10.5),
    "production engineer": ("factory", 16, 0, 5, 27, 20, 31.0),
    "bricklayer": ("building", 2, 20, 22, 0, 0, 16.0),
    "carpenter": ("building", 3, 11, 26, 1, 0, 16.5),
    "electrician": ("building", 4, 3, 38, 3, 0, 18.5),
    "labourer": ("building", 10, 38, 9, 0, 0, 11.0),
    "architect": ("building", 42, 0, 0, 7, 22, 30.0),
    "bus driver": ("transport", 14, 15, 17, 1, 0, 15.0),
    "lorry driver": ("transport", 4, 32, 26, 1, 0, 15.0),
    "warehouse worker": ("transport", 28, 42, 24, 2, 0, 12.5),
    "cleaner": ("service", 84, 58, 12, 1, 0, 9.5),
    "hairdresser": ("service", 88, 4, 20, 1, 0, 10.5),
    "security guard": ("service", 18, 16, 14, 1, 0, 12.0),
    "cook": ("hotel", 45, 24, 22, 1, 0, 11.5),
    "waiter": ("hotel", 64, 26, 14, 3, 0, 10.0),
    "hotel manager": ("hotel", 48, 0, 5, 7, 2, 22.0),
    "shop assistant": ("office", 72, 48, 52, 6, 1, 11.5),
    "office clerk": ("office", 76, 14, 68, 28, 8, 16.0),
    "accountant": ("office", 62, 0, 18, 38, 26, 24.0),
    "civil servant": ("office", 54, 2, 26, 34, 36, 22.0),
    "lawyer": ("office", 46, 0, 0, 2, 44, 40.0),
    "manager": ("office", 32, 3, 22, 46, 50, 36.0),
    "programmer": ("it", 18, 0, 11, 48, 38, 30.0),
    "nursery teacher": ("school", 95, 0, 22, 18, 2, 14.5),
    "school teacher": ("school", 72, 0, 0, 46, 68, 23.0),
    "university teacher": ("school", 43, 0, 0, 0, 36, 32.0),
    "care worker": ("health", 86, 24, 38, 3, 0, 12.5),
    "nurse": ("health", 88, 0, 36, 34, 6, 20.0),
    "physician": ("health", 50, 0, 0, 0, 58, 52.0),
    "musician or artist": ("arts", 50, 2, 6, 12, 12, 14.0),
    OTHER_OCCUPATION: ("other", 50, 22, 18, 12, 9, 14.5),
}

# P(hours a week | status, sex): (from, to, weight), both ends inclusive; people round to 20, 35 and
# 40
HOURS = {
    ("employed", "F"): [
        (1, 15, 9),
        (16, 34, 17),
        (20, 20, 17),
        (35, 35, 20),
        (36, 39, 6),
        (40, 40, 26),
        (41, 55, 5),
    ],
    ("employed", "M"): [
        (1, 15, 3),
        (16, 34, 5),
        (20, 20, 4),
        (35, 35, 19),
        (36, 39, 9),
        (40, 40, 45),
        (41, 60, 15),
    ],
    ("self-employed", "F"): [
        (1, 19, 16),
        (20, 20, 12),
        (21, 39, 20),
        (40, 40, 20),
        (41, 65, 26),
        (60, 60, 6),
    ],
    ("self-employed", "M"): [
        (1, 19, 6),
        (20, 20, 4),
        (21, 39, 11),
        (40, 40, 23),
        (41, 80, 44),
        (60, 60, 12),
    ],
}

# pay factors on the occupation's pay an hour
PAY_BY_AGE = {
    "15-17": 0.5,
    "18-20": 0.65,
    "21-24": 0.78,
    "25-29": 0.9,
    "30-39": 1.0,
    "40-54": 1.12,
    "55-99": 1.08,
}
PAY_BY_SEX = {"F": 0.91, "M": 1.0}
PAY_BY_CLASS = {"basic": 0.93, "middle": 1.0, "bachelor": 1.06, "graduate": 1.15}
# quantile of the pay factor left over: (share of people below, factor); above the last one a Pareto
# tail, alpha = 2
PAY_SPREAD = {
    "employed": [
        (0.0, 0.45),
        (0.05, 0.66),
        (0.25, 0.85),
        (0.5, 1.0),
        (0.75, 1.19),
        (0.9, 1.45),
        (0.98, 2.0),
    ],
    "self-employed": [
        (0.0, 0.05),
        (0.1, 0.3),
        (0.25, 0.55),
        (0.5, 0.9),
        (0.75, 1.5),
        (0.9, 2.5),
        (0.95, 3.2),
    ],
}
PERCENT_ROUNDED = 25  # of the incomes are told to the nearest 500

# P(household size | age band, married or not): weights of sizes 1, 2, ..., 8, then 9 to 12
# together. Children never live alone, married people (nearly) never.
MAX_HOUSEHOLD = 12
HOUSEHOLD = {
    "0-14": {
        "not married": (0, 70, 240, 410, 180, 65, 20, 10, 5),
        "married": (1, 1, 1, 1, 1, 1, 1, 1, 1),
    },
    "15-17": {
        "not married": (4, 110, 260, 380, 160, 55, 20, 8, 3),
        "married": (1, 1, 1, 1, 1, 1, 1, 1, 1),
    },
    "18-24": {
        "not married": (190, 200, 240, 235, 90, 30, 10, 4, 1),
        "married": (5, 480, 320, 130, 45, 15, 4, 1, 0),
    },
    "25-34": {
        "not married": (400, 330, 150, 80, 27, 8, 3, 2, 0),
        "married": (8, 290, 320, 280, 75, 20, 5, 1, 1),
    },
    "35-49": {
        "not married": (400, 270, 190, 95, 32, 9, 3, 1, 0),
        "married": (10, 140, 240, 420, 140, 35, 10, 4, 1),
    },
    "50-64": {
        "not married": (530, 300, 110, 43, 12, 3, 1, 1, 0),
        "married": (12, 490, 270, 160, 50, 12, 4, 1, 1),
    },
    "65-99": {
        "not married": (740, 185, 50, 17, 5, 2, 1, 0, 0),
        "married": (20, 855, 90, 25, 7, 2, 1, 0, 0),
    },
}

# P(years since the last move | age band): (from, to, weight). A move before birth means: never
# moved.
MOVED = {
    "0-17": [(0, 1, 19), (2, 4, 20), (5, 9, 17), (10, 99, 44)],
    "18-29": [(0, 1, 46), (2, 4, 24), (5, 9, 11), (10, 19, 8), (20, 99, 11)],
    "30-44": [(0, 1, 23), (2, 4, 26), (5, 9, 25), (10, 19, 17), (20, 29, 4), (30, 99, 5)],
    "45-64": [(0, 1, 8), (2, 4, 12), (5, 9, 18), (10, 19, 32), (20, 39, 23), (40, 99, 7)],
    "65-99": [
        (0, 1, 4),
        (2, 4, 7),
        (5, 9, 12),
        (10, 29, 29),
        (30, 49, 31),
        (50, 69, 13),
        (70, 99, 4),
    ],
}
# January to December: people move in the summer; and on the first of a month
MONTHS = (5, 5, 7, 8, 8, 10, 12, 14, 12, 8, 6, 5)
PERCENT_ON_THE_FIRST = 35

# chance that a value is missing, per 1000 people whom it concerns
MISSING_SEX = 4
MISSING_MARITAL_ADULTS = 15
MISSING_BORN_ABROAD = 20
MISSING_EDUCATION = {"born abroad": 110, "born here": 20}
MISSING_OCCUPATION = 25
MISSING_HOURS = {"employed": 20, "self-employed": 130}
MISSING_INCOME = {"employed": 50, "self-employed": 180, "hours missing": 600}

MAX_AGE = 99
# the public bin edges: [a, b), but the last bin holds its upper end too
AGE_EDGES = [0, 5, 10, 15, 18, 21, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 90, 99]
HOUSEHOLD_EDGES = [1, 2, 3, 4, 5, 6, 7, 8, 12]
HOURS_EDGES = [0, 1, 10, 20, 21, 30, 35, 36, 40, 41, 50, 60, 80]
INCOME_EDGES = [
    *(
        0,
        0.01,
        5_000,
        10_000,
        15_000,
        20_000,
        25_000,
        30_000,
        35_000,
        40_000,
        50_000,
        60_000,
        80_000,
    ),
    *(100_000, 150_000, 250_000, INCOME_TOP_CODE),
]
