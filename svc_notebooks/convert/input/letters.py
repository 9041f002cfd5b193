# ruff: noqa: E501, RUF001  a language is a line
"""The letters of languages, the most frequent first, with which charset.py guesses the character set of a text.

The first 26 letters of most languages, and the characters of Chinese and Japanese, are those of charset-normalizer 3.5.
"""

from __future__ import annotations

# fmt: off
LETTERS = {
    "English": "eationsrhldcumfpgwybvkxjzq",
    "German": "enirstadhulgocmbfkwzpvüäöjß",
    "French": "easnitrluodcpmévgfbhqàxèyjâçêëîïôùûüœ",
    "Dutch": "enairtodslghvmukcpbwjzfyxëéèïöü",
    "Italian": "eiaonltrscdupmgvfbzhqèàkyòéìù",
    "Spanish": "eaonsrildtcumpbgvfyóhqíjzáúñüº",
    "Portuguese": "aeosirdntmuclpgvbfhãqéçázíàâêôõúüºª",
    "Swedish": "eanrtsildomkgvhfupäcböåyjxé",
    "Norwegian": "erntasioldgkmvfpubhåyjøcæwéòô",
    "Finnish": "aintesloukämrvjhpydögcbfwzšžå",
    "Danish": "erntaisdlogmkfvubhpåyøæcjwé",
    "Icelandic": "arniesðtugmlfkhvoáæóíþöúyéýbdpxj",
    "Catalan": "easrilntoucdmpvgbfqhjàèéíóxòçúïü",
    "Albanian": "etiarnsëhukodmjlpgvbzfqcxyç",
    "Polish": "aioenrzwsctkydpmuljłgbhąęóńśźżć",
    "Czech": "oeantsilvrkdumpíchzáyjběéřďňóťúůžšč",
    "Slovak": "oaenirvtslkdmpuchjbzáyýíčéäďĺľňóôŕšťúž",
    "Hungarian": "eatlsnkriozáégmbyvdhupjöfcóüúűő",
    "Romanian": "eiarntulocsdpmăfvîgbșțzhâjşţ",
    "Croatian": "aioenrjstuklvdmpgzbcčhšžćfđ",
    "Slovene": "eaionrsltjvkdpmuzbghčcšžfyđć",
    "Turkish": "aeinrlıkdtsmyuobüşvgzhcpçğâîûö",
    "Latvian": "aiestrnulokmpdāvzgjbcēīšņģļūžķčfh",
    "Lithuanian": "iasoretnukmlpvdjgėbyųšžcąįęū",
    "Estonian": "aiestlunokrdmvgpjhäbõüfcöyšž",
    "Russian": "оеаинтсрвлкмдпугяызбйьчхжцфюшщэъё",
    "Ukrainian": "оаніирвтесклудмпзяьбгйчхцїжшюєщґф",
    "Bulgarian": "аиоентрсвлкдпмзгяъубчцйжщхшюфьэы",
    "Serbian": "аиоенрсуткјвдмплгзбaieonцшљњћхчџђжф",
    "Belarusian": "анісеркоытлдуямпвзцьгйшбчжюхўэфё",
    "Macedonian": "аоиетнрсвдлкпмузјбгчшцжфхњќљѓџѕ",
    "Greek": "ατοιενρσκηπςυμλίόάγέδήωχθύβζξφψώϊϋΐΰ",
    "Hebrew": "יוהלרבתמאשנעםדקחפסכגטצןזךףץ",
    "Arabic": "اليمونرتبةعدسفهكقأحجشطصىخإزضذثغظؤئآء",
    "Farsi": "ایردنهومتبسلکشزفگعخقجآپحطصثذضظئأءي",
    "Thai": "านรอกเงมยลวดทสตะปบคหแจพชขใถธผฝศษซฌญฐฎฏฆฑฒฬภฮฉฤ์่้ัิีืุูึำโไๆ็๊",
    "Japanese": "のにるたとはしいをでてがなれからさっりすあもこまうくよきんめおけそつだやえどわちみせじばへびずろほげ"
    "むべひょゆぶごゃねふぐぎぼゅづざぞぬぜぱぽぷぴぃぁぇぺゞぢぉぅゐゝゑ゛゜ゎゔ゚ゟ゙ゕゖーンス・ルトリ"
    "イアラックドシレジタフロカテマィグバムプオコデニウメサビナブャエュチキズダパミェョハセベガモツネボソ"
    "ノァヴワポペピケゴギザホゲォヤヒユヨヘゼヌゥゾヶヂヲヅヵヱヰヮヽ゠ヾヷヿヸヹヺ日一人年大十二本中長出"
    "三時行見月分後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百書先名川千水半男西電校語土木"
    "聞食車何南万毎白天母火右読友左休父雨",
    "Chinese": "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实",
    "Korean": "이다에의는로하을가고지서한은기으년대사시를리도인스일",
}
# fmt: on
