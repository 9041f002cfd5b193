import time
from dataclasses import replace

import pytest

from svc_notebooks.convert.input.charset import decode

pytestmark = pytest.mark.spec("A5-06", "A5-06a")

WESTERN = "Müller;Straße;naïve café;5 €\nGrüße;Élan;ça va\n"
POLISH = "Łódź;Kraków;żółć\nPříliš;žluťoučký;kůň\n"
RUSSIAN = "имя;фамилия;город\nИван;Петров;Москва\nМария;Смирнова;Казань\n"
JAPANESE = "名前,年齢,住所\n佐藤太郎,30,東京\n三木英子,25,大阪\n"
CHINESE = "姓名,年龄,城市\n张三,三十,北京\n李四,二十五,上海\n"
KOREAN = "이름,나이,도시\n김철수,30,서울\n"
GREEK = "Καλημέρα κόσμε\nόνομα,πόλη\nΓιώργος,Αθήνα\n"


@pytest.mark.parametrize(
    "text,charset",
    [
        (JAPANESE, "utf-8"), (JAPANESE, "utf-8-sig"), (JAPANESE, "utf-16"), (JAPANESE, "utf-16-le"),
        (WESTERN, "utf-16-be"), (WESTERN, "utf-32"), (WESTERN, "utf-32-le"), (WESTERN, "cp1252"), (POLISH, "cp1250"),
        (RUSSIAN, "utf-16-le"), (GREEK, "utf-16-be"), (RUSSIAN, "cp1251"), (GREEK, "cp1253"), (JAPANESE, "cp932"),
        (JAPANESE, "euc_jp"), (JAPANESE, "iso2022_jp"), (CHINESE, "gb18030"), (KOREAN, "cp949"),
        # signs beside numbers
        ("Item,Price\nTea,£2.50\nCake,£3.00\n", "cp1252"), ("£1,234.00\n£5\n", "cp1252"),
        ("12 m²; 3×4; ±5 µm; ½ l; 20 °C", "cp1252"), ("¿Qué? ¡5 €!", "cp1252"),
        # one word, and a file with few letters at its beginning
        ("Aizjūras", "cp1257"), ("Kołobrzeg", "cp1250"), ("\xa9 2026\n" + "a,b\n" * 5_000 + RUSSIAN, "cp1251"),
    ],
)  # fmt: skip
def test_an_undeclared_charset_is_guessed(text, charset, job):
    assert decode(text.encode(charset), job) == text


@pytest.mark.parametrize("charset", ["cp1250", "koi8-r", "mac_roman", "big5", "iso8859-15", "cp437", "utf-7"])
def test_a_declared_charset_is_used(charset, job):
    text = {"koi8-r": RUSSIAN, "big5": "姓名,城市\n張三,臺北\n", "utf-7": "plain"}.get(charset, "Müller,Straße\n")
    assert decode(text.encode(charset), replace(job, charset=charset)) == text
    assert decode(text.encode(charset), job, charset) == text


@pytest.mark.parametrize("declared", ["utf-8", "ascii", "cp1253", "no such thing", "", "x" * 5000, "\0"])
def test_a_declared_charset_that_fails_is_ignored(declared, job):
    assert decode("naïve".encode("cp1252") + b"\xff\xaa\xd2", job, declared).startswith("na")


NO_CHARSETS = (
    "zip",
    "bz2",
    "hex",
    "base64",
    "rot13",
    "uu",
    "quopri",
    "idna",
    "punycode",
    "unicode_escape",
    "undefined",
)


@pytest.mark.parametrize(
    "source,declared,text",
    [
        *(("表".encode("cp932"), label, "表") for label in ("x-sjis", "SHIFT_JIS", " 'cp932' ", "windows-932")),
        ("naïve".encode(), "cp1252", "naïve"),  # UTF-8 is tried first
        (b"\x93quoted\x94", "iso-8859-1", "“quoted”"),
        *((b"\\x41 na\xefve", declared, "\\x41 naïve") for declared in NO_CHARSETS),
    ],
)
def test_a_declared_charset_is_understood_as_browsers_do(source, declared, text, job):
    assert decode(source, job, declared) == text


@pytest.mark.parametrize("source", [b"", b"\xff", b"\xff\xfe", b"\xfe\xffa", b"\x1b$B", bytes(range(256)) * 40])
def test_decoding_never_fails(source, job):
    assert isinstance(decode(source, job), str)
    assert decode(b"one\0,two,three,four\n" * 20, job).startswith("one\0,two")  # zero bytes do not mean UTF-16


def test_ten_megabytes_are_read_at_once(job):
    began = time.process_time()

    assert decode(b"abc;def;1,5\r\n" * 800_000 + "Müller\n".encode("cp1252"), job).endswith("Müller\n")
    assert time.process_time() - began < 10


SENTENCES = {
    "German": ("cp1252", "Der Käufer erhält für jede Bestellung eine Quittung, außer er möchte darauf verzichten."),
    "French": ("cp1252", "Cet été, les élèves ont visité le château où naquit la reine, près du vieux théâtre."),
    "Spanish": ("cp1252", "El próximo año la compañía abrirá una oficina más pequeña en el corazón de la ciudad."),
    "Portuguese": ("cp1252", "A reunião não começou às nove porque o avião chegou atrasado à estação de São Paulo."),
    "Italian": ("cp1252", "La città è più bella di sera, perché la gente va al caffè e resta lì fino a tardi."),
    "Dutch": ("cp1252", "De coördinatie van alle ideeën kostte één dag; daarna reisden we naar België."),
    "Swedish": ("cp1252", "På sommaren åker många familjer till sjön för att bada och äta jordgubbar på ön."),
    "Danish": ("cp1252", "Børnene spiste grød og æbler, mens deres far gik en lang tur på stranden ved åen."),
    "Finnish": ("cp1252", "Tänään sää on lämmin, mutta yöllä lämpötila laskee selvästi ja pöydälle jää kylmä vesi."),
    "Icelandic": ("cp1252", "Það er gott að búa hér, þó að veðrið sé kalt og dagarnir stuttir á veturna."),
    "Polish": ("cp1250", "Książka leży na stole, a źródło światła jest zbyt słabe, żeby można było ją czytać."),
    "Czech": ("cp1250", "Příští týden pojedeme na výlet do hor, kde už určitě začal padat první sníh."),
    "Hungarian": ("cp1250", "A gyönyörű őszi időben hosszú sétát tettünk az erdőben, és később főztünk egy jó levest."),
    "Croatian": ("cp1250", "Sljedeći tjedan počinje škola, pa će djeca ponovno učiti čitati, pisati i računati."),
    "Turkish": ("cp1254", "Çocuklar bugün güneşli havada dışarıda oynadı ve akşam için yeni bir oyun öğrendi."),
    "Lithuanian": ("cp1257", "Kitą savaitę važiuosime prie ežero, nes orų prognozė žada šiltų ir saulėtų dienų."),
    "Russian": ("cp1251", "На следующей неделе мы поедем к бабушке в деревню и будем собирать грибы в лесу."),
    "Ukrainian": ("cp1251", "Щороку влітку ми їздимо до моря, де діти будують із піску великі замки."),
    "Bulgarian": ("cp1251", "Следващата седмица ще пътуваме до планината, за да видим първия сняг."),
    "Greek": ("cp1253", "Την επόμενη εβδομάδα θα ταξιδέψουμε στο νησί για να δούμε τους φίλους μας."),
    "Hebrew": ("cp1255", "בשבוע הבא ניסע לבקר את סבתא שלנו בכפר ונאכל ארוחת ערב עם כל המשפחה."),
    "Arabic": ("cp1256", "سوف نسافر في الأسبوع القادم إلى المدينة لزيارة الأصدقاء وشراء بعض الكتب."),
    "Thai": ("cp874", "สัปดาห์หน้าเราจะไปเที่ยวทะเลกับครอบครัวและกินอาหารอร่อยด้วยกัน"),
    "Japanese": ("cp932", "来週は家族と一緒に海へ行って、おいしい魚を食べる予定です。天気がよければいいですね。"),
    "Chinese": ("gb18030", "下个星期我们要和家人一起去海边，吃新鲜的鱼，然后在城里住两天。"),
    "Traditional Chinese": ("big5", "下個星期我們要和家人一起去海邊，吃新鮮的魚，然後在城裡住兩天。"),
    "Korean": ("cp949", "다음 주에 우리는 가족과 함께 바다에 가서 신선한 생선을 먹고 이틀 동안 머물 것입니다."),
}  # fmt: skip


@pytest.mark.parametrize("language", SENTENCES)
def test_the_charset_of_a_sentence_is_guessed_and_noted(language, job):
    codec, text = SENTENCES[language]

    assert decode(text.encode(codec), job) == text
    assert job.notes == [
        f"The character set was guessed: {codec}. If letters are wrong, declare the character set: "
        'mime_type="application/octet-stream; charset=...".'
    ]


def test_the_charset_of_most_fragments_is_guessed(job):
    fragments = [
        (text[start : start + 12].encode(codec), text[start : start + 12])
        for codec, text in SENTENCES.values()
        for start in range(0, len(text) - 12, 12)
    ]
    right = [decode(source, job) == text for source, text in fragments if not source.isascii()]

    assert sum(right) / len(right) > 0.85, f"{sum(right)} of {len(right)}"


def test_invalid_bytes_in_utf_8_and_in_the_declared_charset_are_noted(job):
    utf_8 = decode("Příliš žluťoučký kůň".encode() + b"\xff", job)
    declared = decode(b"caf\xe9 \x81 na\xefve", job, "windows-1252")

    assert (utf_8, declared) == ("Příliš žluťoučký kůň\ufffd", "café \ufffd naïve")
    for charset in ("utf-8", "cp1252"):
        assert f"Bytes that are not valid in the character set {charset} became \ufffd." in job.notes
