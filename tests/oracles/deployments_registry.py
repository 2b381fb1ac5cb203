"""What OpenDP's registry of deployments asks of a record: its fields and enumerated values, in our
own words.

By ``schemas/deployments-schema.yaml`` of ``opendp/deployments-registry-data``, commit 057e5d8.
"""

TEXT, NUMBER = {"type": "string"}, {"type": "number"}


def one_of(*values):
    return {"enum": list(values)}


def record(needed=(), **fields):
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(needed),
        "properties": fields,
    }


def texts(names):
    return dict.fromkeys(names.split(), TEXT)


CURATOR = record(
    ("data_curator_name", "data_curator_type"),
    data_curator_name=TEXT,
    data_curator_type=one_of("Government", "Industry", "Nonprofit"),
)
BASIC = record(
    [
        "name",
        "data_curators",
        "description",
        "intended_use",
        "data_product_type",
        "data_product_region",
        "publication_date",
    ],
    **texts("name description intended_use data_product_region"),
    data_curators={"type": "array", "minItems": 1, "items": CURATOR},
    data_product_type=one_of(
        "Summary statistics",
        "Machine learning model",
        "Dataset",
        "Synthetic data",
        "Interactive API",
        "SQL queries",
    ),
    data_product_sector=one_of(
        "Technology", "Healthcare", "Education", "Government", "Energy", "Finance"
    ),
    publication_date={"type": "string", "format": "date"},
)
VARIANT = record(
    variant_name=one_of("Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"),
    **texts("data_domain unprotected_quantities"),
)
LOSS = record(
    **texts("privacy_unit privacy_unit_details privacy_parameters_details"),
    number_of_privacy_units={"type": "integer"},
    privacy_parameters=record(epsilon=NUMBER, delta={"type": ["number", "string"]}, rho=NUMBER),
)
MODEL = record(
    model_name=one_of("Local", "Central", "Shuffle", "Federated", "Varies"),
    release_type=one_of("One release", "Many releases"),
    data_source_type=one_of("Static", "Dynamic"),
    access_type=one_of("Interactive", "Non-interactive"),
    **texts(
        "model_name_details trust_assumptions actors release_type_details data_source_type_details"
    ),
    access_type_details=TEXT,
)
IMPLEMENTATION = record(
    **texts(
        "preprocessing_and_hyperparameter_tuning mechanisms composition post_processing justification"
    ),
    **texts("utility additional_information"),
)
SOURCE = record(
    evidence_source_type=one_of(
        "Peer-reviewed publication",
        "Formal publication by the deploying organization",
        "Authorized organizational attestation",
        "Other public source",
    ),
    misc=record(**texts("title url author"), year={"type": ["string", "number"]}),
)
ADMINISTRATIVE = record(
    ("status", "registry_authors", "tier"),
    evidence_sources={"type": "object", "patternProperties": {r"^\w+$": SOURCE}},
    status=one_of(
        "Converted",
        "Draft",
        "Pending",
        "Changes Required",
        "Approved",
        "Approved (Update Requested)",
        "Approved (Pending)",
    ),
    registry_authors={"type": "array", "minItems": 1, "items": TEXT},
    tier=one_of(1, 2, 3),
)
RECORD = record(
    ("url_slug", "deployment"),
    url_slug=TEXT,
    deployment=record(
        ("basic", "administrative"),
        basic=BASIC,
        dp_variant=VARIANT,
        privacy_loss=LOSS,
        deployment_model=MODEL,
        implementation=IMPLEMENTATION,
        administrative=ADMINISTRATIVE,
    ),
)
