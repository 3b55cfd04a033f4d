"""The words that demo data is made of: invented brands, ordinary products, common names."""

from __future__ import annotations

from typing import Final

BRANDS: Final = {
    "Electronics": (
        "Lumora", "Voltaic", "Northbeam", "Auralis", "Pixelwood", "Sonitek", "Halcyon Audio",
        "Brightfield",
    ),
    "Computers": (
        "Keystead", "Apple", "Nimbus Labs", "Framewright", "Datumworks", "Bytehaven",
        "Corepoint",
    ),
    "Home": (
        "Oakmere", "Linden & Co", "Hearthside", "Casa Verde", "Stillwater Home", "Downfeather",
        "Plumb Line", "Moss & Stone",
    ),
    "Kitchen": (
        "Cast & Crumb", "Copperleaf", "Saltbox", "Whisk & Ladle", "Ember Kitchen", "Grindhouse",
        "Teaworks",
    ),
    "Fashion": (
        "Harrow & Finch", "Threadneedle", "Wolds", "Marlowe", "Sable Row", "Kitefield",
        "Denim Union", "Juniper Lane",
    ),
    "Sports": (
        "Trailhead", "Ridgeback", "Peakline", "Aquastride", "Velo Nord", "Ironbark",
        "Summit Works", "Fieldhouse",
    ),
    "Toys": (
        "Tinkerwood", "Marble Run Co", "Puzzlebury", "Little Atlas", "Brickworks", "Kite & Key",
        "Owl & Otter",
    ),
    "Beauty": (
        "Saffron Skin", "Purewell", "Alder & Bloom", "Glowfern", "Tideline", "Rosehip Row",
        "Velvet Fig",
    ),
}  # fmt: skip
"""Sixty of them, by the category in which they are at home."""

NEIGHBOURS: Final = {
    "Electronics": "Computers",
    "Computers": "Electronics",
    "Home": "Kitchen",
    "Kitchen": "Home",
    "Fashion": "Sports",
    "Sports": "Fashion",
    "Toys": "Sports",
    "Beauty": "Fashion",
}
"""Where else a brand is found."""

PRODUCTS: Final = {
    "Electronics": (
        ("noise-cancelling headphones", 60, 350), ("portable speaker", 25, 180),
        ("4K television", 280, 1600), ("smart watch", 70, 420), ("action camera", 90, 450),
        ("e-reader", 80, 280), ("soundbar", 90, 600), ("power bank", 15, 70),
        ("wireless earbuds", 30, 220), ("digital radio", 40, 160),
    ),
    "Computers": (
        ("mechanical keyboard", 45, 190), ("27-inch monitor", 140, 620), ("laptop", 400, 2200),
        ("wireless mouse", 15, 110), ("external SSD", 60, 320), ("docking station", 70, 280),
        ("webcam", 30, 190), ("mesh router", 80, 380), ("mini PC", 180, 900),
        ("laptop stand", 20, 90),
    ),
    "Home": (
        ("oak desk lamp", 35, 140), ("wool rug", 60, 480), ("duvet", 40, 220),
        ("bookcase", 70, 400), ("air purifier", 80, 420), ("scented candle", 8, 40),
        ("blackout curtains", 25, 120), ("robot vacuum", 160, 800), ("wall clock", 15, 90),
        ("storage basket", 9, 45),
    ),
    "Kitchen": (
        ("cast-iron pan", 25, 150), ("espresso machine", 120, 900), ("chef's knife", 30, 220),
        ("stand mixer", 150, 600), ("pour-over kettle", 30, 140), ("burr grinder", 50, 320),
        ("baking set", 15, 80), ("air fryer", 60, 260), ("glass teapot", 15, 70),
        ("bamboo board", 12, 60),
    ),
    "Fashion": (
        ("merino jumper", 40, 180), ("rain jacket", 50, 320), ("leather belt", 18, 95),
        ("straight jeans", 35, 160), ("linen shirt", 25, 120), ("canvas rucksack", 40, 190),
        ("wool scarf", 20, 110), ("trainers", 45, 200), ("sunglasses", 25, 210),
        ("ankle boots", 60, 280),
    ),
    "Sports": (
        ("two-person tent", 80, 520), ("trail running shoes", 55, 190), ("yoga mat", 15, 90),
        ("road bike helmet", 35, 260), ("kettlebell", 18, 110), ("swim goggles", 9, 55),
        ("hiking poles", 25, 150), ("sleeping bag", 45, 380), ("bike lights", 14, 120),
        ("insulated bottle", 12, 50),
    ),
    "Toys": (
        ("wooden train set", 25, 140), ("1,000-piece puzzle", 10, 35), ("marble run", 20, 110),
        ("building blocks", 15, 160), ("board game", 15, 75), ("stacking rings", 8, 30),
        ("science kit", 18, 90), ("plush fox", 10, 45), ("kite", 12, 70), ("globe", 20, 120),
    ),
    "Beauty": (
        ("vitamin C serum", 10, 60), ("hair dryer", 30, 320), ("shaving set", 20, 130),
        ("night cream", 12, 95), ("electric toothbrush", 25, 220), ("bath salts", 6, 35),
        ("sunscreen", 8, 40), ("perfume", 25, 160), ("lip balm trio", 5, 25),
        ("beard trimmer", 20, 110),
    ),
}  # fmt: skip
"""What is on offer in a category: from what price to what price."""

FINISHES: Final = (
    "graphite", "ivory", "forest green", "navy", "sand", "slate", "black", "white", "terracotta",
    "ocean blue", "in gift box", "last year's model", "new edition", "refurbished", "open box",
    "limited edition",
)  # fmt: skip

SHOPS: Final = (
    "bargainbarn", "dealharbour", "pricewharf", "outletrow", "thriftlane", "lastcrate",
    "clearancehall", "fairmarket",
)  # fmt: skip

FIRST_NAMES: Final = (
    "Ada", "Amir", "Ana", "Ben", "Bo", "Carla", "Chidi", "Dana", "Diego", "Elif", "Emma", "Femi",
    "Gita", "Hana", "Hugo", "Ines", "Ivan", "Jade", "Jonas", "Kai", "Lena", "Leo", "Lucia", "Mara",
    "Mei", "Milo", "Nadia", "Noah", "Omar", "Petra", "Priya", "Quinn", "Rosa", "Sam", "Sofia",
    "Tariq", "Uma", "Vera", "Yuki", "Zane",
)  # fmt: skip

LAST_NAMES: Final = (
    "Abbott", "Aydin", "Baker", "Berg", "Castro", "Chen", "Cole", "Dahl", "Diaz", "Eze", "Fischer",
    "Fox", "Garcia", "Haddad", "Hughes", "Ito", "Jansen", "Kaya", "Khan", "Kowalski", "Larsen",
    "Lopez", "Marsh", "Meyer", "Mensah", "Moreau", "Nakamura", "Novak", "Okafor", "Olsen", "Park",
    "Patel", "Quist", "Reyes", "Rossi", "Sato", "Silva", "Singh", "Stone", "Suzuki", "Tan",
    "Torres", "Urban", "Vargas", "Walsh", "Weber", "Wood", "Yilmaz", "Young", "Zimmer",
)  # fmt: skip
