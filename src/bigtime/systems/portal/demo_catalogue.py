"""What the demo portal sells, to whom, and with which campaigns."""

from __future__ import annotations

from datetime import date
from typing import Final, NamedTuple

from bigtime.systems.portal.values import BillingCycle

MONTHLY, YEARLY = BillingCycle.MONTHLY, BillingCycle.YEARLY


class Plan(NamedTuple):
    """A product, the prices that it has had, and whether it is still sold."""

    name: str
    description: str
    prices: tuple[str, ...]
    cycle: BillingCycle
    features: tuple[str, ...]
    sold: bool = True


class Promotion(NamedTuple):
    """A campaign for one of the plans, by its place in the list."""

    code: str
    description: str
    discount: str
    plan: int
    first: date
    last: date
    running: bool = True


PLANS: Final = (
    Plan(
        "WordPress Starter Plan",
        "One WordPress site for a first shop window, hosted in Johannesburg.",
        ("79.00", "89.00"),
        MONTHLY,
        ("1 WordPress site", "10GB storage", "Free SSL certificate", "Weekly backups"),
    ),
    Plan(
        "WordPress Professional Plan",
        "Professional WordPress hosting with advanced features.",
        ("249.99", "279.99", "299.99"),
        MONTHLY,
        (
            "Up to 10 WordPress sites",
            "100GB storage",
            "Unlimited bandwidth",
            "Daily backups",
            "Priority support",
        ),
    ),
    Plan(
        "WordPress Professional Plan, Yearly",
        "The professional plan, paid once a year: twelve months for the price of ten.",
        ("2999.90",),
        YEARLY,
        ("Up to 10 WordPress sites", "100GB storage", "Daily backups", "Priority support"),
    ),
    Plan(
        "WooCommerce Store",
        "A shop that takes PayFast, Ozow and card payments from day one.",
        ("449.00", "479.00"),
        MONTHLY,
        ("1 online shop", "PayFast and Ozow ready", "Hourly backups", "50GB storage"),
    ),
    Plan(
        "Agency Plan",
        "Fifty client sites under one roof, with staging and a login for each client.",
        ("1299.00",),
        MONTHLY,
        ("Up to 50 WordPress sites", "500GB storage", "Staging sites", "Client logins"),
    ),
    Plan(
        "Business Mail",
        "Mailboxes on your own domain, with spam filter and calendar.",
        ("45.00", "49.00"),
        MONTHLY,
        ("10 mailboxes", "50GB each", "Calendar and contacts", "Spam filter"),
    ),
    Plan(
        "VPS Johannesburg 4GB",
        "A virtual server in Teraco JB1, three milliseconds from the exchange.",
        ("389.00",),
        MONTHLY,
        ("2 vCPU", "4GB memory", "80GB NVMe", "Power backed up through load-shedding"),
    ),
    Plan(
        "VPS Cape Town 8GB",
        "A virtual server in Cape Town for those who need room to grow.",
        ("689.00", "659.00"),
        MONTHLY,
        ("4 vCPU", "8GB memory", "160GB NVMe", "Power backed up through load-shedding"),
    ),
    Plan(
        ".co.za Domain",
        "Your name in South Africa, registered in an hour.",
        ("89.00", "99.00"),
        YEARLY,
        ("Free DNS", "WHOIS privacy", "Renewal reminders"),
    ),
    Plan(
        "Site Care",
        "We update plugins, watch the site and put it back when something breaks.",
        ("199.00",),
        MONTHLY,
        ("Plugin updates", "Uptime watch", "Two hours of work a month"),
    ),
    Plan(
        "Shared Hosting Classic",
        "The cPanel hosting of old; customers have moved to the WordPress plans.",
        ("59.00",),
        MONTHLY,
        ("1 site", "5GB storage"),
        sold=False,
    ),
)

PROMOTIONS: Final = (
    Promotion(
        "SWITCH2US",
        "Move your site to us and pay a fifth less.",
        "20",
        1,
        date(2025, 10, 1),
        date(2029, 9, 30),
    ),
    Promotion(
        "STARTUP_ZA",
        "For companies in their first year.",
        "35",
        3,
        date(2025, 11, 1),
        date(2029, 10, 31),
    ),
    Promotion(
        "COZA_PLUS",
        "A .co.za name with every new plan, at half a year's price.",
        "50",
        8,
        date(2025, 9, 1),
        date(2029, 8, 31),
    ),
    Promotion(
        "SUMMER2025",
        "The summer offer of 2025, which so many liked that it goes on.",
        "20",
        1,
        date(2025, 6, 1),
        date(2029, 8, 31),
    ),
    Promotion(
        "HERITAGE_2025",
        "Heritage Day special on the starter plan.",
        "24.09",
        0,
        date(2025, 9, 15),
        date(2025, 9, 30),
    ),
    Promotion(
        "BLACK_FRIDAY_2025",
        "Four days, a third off agency hosting.",
        "33.33",
        4,
        date(2025, 11, 28),
        date(2025, 12, 1),
    ),
    Promotion(
        "YOUTH_MONTH_2026",
        "June is for the young: mail for student start-ups.",
        "40",
        5,
        date(2026, 6, 1),
        date(2026, 6, 30),
    ),
    Promotion(
        "JOZI_VPS_2030",
        "A new hall in Johannesburg opens its doors.",
        "15",
        6,
        date(2030, 2, 1),
        date(2030, 4, 30),
    ),
    Promotion(
        "SUMMER2030",
        "Summer 2030 special offer on the professional plan.",
        "20",
        1,
        date(2030, 12, 1),
        date(2031, 2, 28),
    ),
    Promotion(
        "CLASSIC_CLEARANCE",
        "Last call for classic hosting; withdrawn with the product.",
        "10",
        10,
        date(2025, 10, 1),
        date(2026, 12, 31),
        running=False,
    ),
    Promotion(
        "EASTER_EGG",
        "A joke of the marketing team, withdrawn the same day.",
        "99.99",
        9,
        date(2026, 4, 3),
        date(2026, 4, 6),
        running=False,
    ),
)

FIRST_NAMES: Final = (
    "Thabo Lerato Sipho Nomsa Pieter Annelie Zanele Kagiso Ayesha Imraan Fatima Johan Mandla"
    " Naledi Bongani Priya Riaan Thandi Lwazi Karin Sibusiso Michelle Tebogo Anika Yusuf Palesa"
    " Dirk Refilwe"
).split()
SURNAMES: Final = (
    "Mokoena Dlamini Botha Naidoo vanWyk Khumalo Pillay Nkosi Jacobs Mahlangu Petersen Govender"
    " Molefe Coetzee Zulu Adams Ndlovu Steyn Maseko Essop Tshabalala Fourie Sithole Davids"
).split()
TRADES: Final = (
    "Roasters Plumbing Attorneys Bakery Architects Safaris Dental Tyres Films Farms Physio"
    " Guesthouse Electrical Designs Motors Tutors Catering Florists Logistics Studio"
).split()
PLACES: Final = (
    "Karoo Umhlanga Soweto Stellenbosch Limpopo Sandton Knysna Bloem Midrand Overberg Maboneng"
    " Drakensberg Paarl Polokwane Gqeberha Zululand"
).split()
