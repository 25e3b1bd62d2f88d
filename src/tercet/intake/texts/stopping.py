"""Words that carry grammar rather than a topic, in five languages.

Each list has the closed classes of its language: articles, pronouns, prepositions,
conjunctions, auxiliary verbs with their forms, and common adverbs of degree, place
and time. Words are as the default pattern finds them: lower case, two letters or
more, split at apostrophes ("aren" and "ll" stand for "aren't" and "we'll").
"""

from __future__ import annotations

from tercet.exceptions import ParameterError

__all__ = ["LANGUAGES", "list_stop_words"]

_ENGLISH = """
an the this that these those some any each every either neither no none all both
few several such other others another same own much many more most less least enough
me my mine myself we us our ours ourselves you your yours yourself yourselves he him
his himself she her hers herself it its itself they them their theirs themselves one
ones who whom whose which what whoever whatever whichever someone something anyone
anything everyone everything nobody nothing somebody anybody everybody
about above across after against along among amid around as at before behind below
beneath beside besides between beyond by despite down during except for from in inside
into near of off on onto out outside over past per since through throughout till to
toward towards under underneath until unto up upon via with within without
and but or nor so yet if unless because although though while whereas whether than then
when whenever where wherever why how
am is are was were be been being do does did doing done have has had having will would
shall should can could may might must ought cannot
not only also too very just even still already again ever never always often once here
there now thus hence therefore however rather quite almost
don didn doesn isn aren wasn weren hasn haven hadn won wouldn shan shouldn couldn mustn
mightn needn ain ll ve re
"""

_FRENCH = """
le la les un une des du de au aux ce cet cette ces mon ma mes ton ta tes son sa ses
notre nos votre vos leur leurs quel quelle quels quelles quelque quelques chaque tout
toute tous toutes aucun aucune nul nulle plusieurs certain certaine certains certaines
tel telle tels telles même mêmes autre autres
je tu il elle on nous vous ils elles me te se moi toi lui eux soi en ceci cela ça celui
celle ceux celles qui que quoi dont où lequel laquelle lesquels lesquelles auquel duquel
desquels rien personne quelqu chacun chacune
avant après avec chez contre dans depuis derrière dès devant durant entre envers hors
jusque jusqu malgré par parmi pendant pour sans sauf selon sous sur vers outre
et ou mais donc or ni car si comme quand lorsque lorsqu puisque puisqu quoique quoiqu
parce afin ainsi alors
être suis es est sommes êtes sont étais était étions étiez étaient fus fut fûmes fûtes
furent serai seras sera serons serez seront serais serait serions seriez seraient sois
soit soyons soyez soient fusse fût fussent étant été étée étés étées
avoir ai as avons avez ont avais avait avions aviez avaient eus eut eûmes eûtes eurent
aurai auras aura aurons aurez auront aurais aurait aurions auriez auraient aie aies ait
ayons ayez aient eût eussent ayant eu eue eues
ne pas plus moins très trop peu assez aussi encore déjà toujours jamais souvent ici là
bien puis ensuite peut non oui qu
"""

_GERMAN = """
der die das den dem des ein eine einer eines einem einen kein keine keiner keines keinem
keinen dieser diese dieses diesem diesen jener jene jenes jenem jenen jeder jede jedes
jedem jeden mancher manche manches manchem manchen solcher solche solches solchem solchen
welcher welche welches welchem welchen alle alles allem allen aller einige einiges
einigem einigen einiger viele viel wenig wenige beide beiden mehr andere anderer anderes
anderem anderen derselbe dieselbe dasselbe selbst selber etwas nichts man jemand niemand
ich du er sie es wir ihr mich mir dich dir ihn ihm ihnen uns euch sich meiner deiner
mein meine meinem meinen meines dein deine deinem deinen deines sein seine seinem seinen
seiner seines ihre ihrem ihren ihrer ihres unser unsere unserem unseren unserer unseres
euer eure eurem euren eurer eures wer wen wem wessen was
ab an auf aus außer bei beim bis durch für gegen gegenüber hinter in im ins innerhalb
mit nach neben ohne seit statt trotz über um unter unterhalb vom von vor während wegen
wider zu zum zur zwischen am ans aufs
und oder aber denn sondern doch jedoch als wenn weil dass daß ob obwohl damit da sobald
solange indem sowie sowohl weder noch falls wie wo woher wohin warum wann also so
bin bist ist sind seid war warst waren wart gewesen wäre wären sei seien habe hast hat
haben habt hatte hattest hatten hattet gehabt hätte hätten werde wirst wird werden werdet
wurde wurden würde würden geworden worden kann kannst können könnt konnte konnten könnte
könnten muss muß musst müssen müsst musste mussten müsste will willst wollen wollt wollte
wollten soll sollst sollen sollt sollte sollten darf dürfen durfte dürfte mag mögen mochte
möchte möchten lassen
nicht nur auch sehr schon immer nie niemals wieder hier dort dann nun jetzt sonst zwar
dabei dadurch dafür dagegen daher darum davon dazu ganz eben etwa bereits
"""

_ITALIAN = """
il lo la gli le un uno una del dello della dei degli delle dell al allo alla ai agli alle
all dal dallo dalla dai dagli dalle dall nel nello nella nei negli nelle nell sul sullo
sulla sui sugli sulle sull col coi questo questa questi queste quello quella quelli quelle
quel quei quegli mio mia miei mie tuo tua tuoi tue suo sua suoi sue nostro nostra nostri
nostre vostro vostra vostri vostre loro tutto tutta tutti tutte ogni qualche alcuno alcuna
alcuni alcune nessuno nessuna nessun altro altra altri altre stesso stessa stessi stesse
tanto tanta tanti tante molto molta molti molte poco poca pochi poche tale tali quale quali
qual ciascuno ciascuna
io tu egli lui lei noi voi essi esse esso essa mi ti si ci vi me te sé ne lo li cui che chi
ciò niente nulla qualcosa qualcuno
di da in con su per tra fra verso senza sotto sopra dentro fuori dopo prima contro durante
presso oltre fino sino
ed ad ma anche se perché poiché come dove quando mentre quindi dunque però oppure né od
ove onde sicché
essere sono sei è siamo siete ero eri era eravamo eravate erano fui fosti fu fummo foste
furono sarò sarai sarà saremo sarete saranno sarei saresti sarebbe saremmo sareste
sarebbero sia siate siano fossi fosse fossimo fossero stato stata stati state essendo
avere ho hai ha abbiamo avete hanno avevo avevi aveva avevamo avevate avevano ebbi avesti
ebbe avemmo aveste ebbero avrò avrai avrà avremo avrete avranno avrei avresti avrebbe
avremmo avreste avrebbero abbia abbiate abbiano avessi avesse avessimo avessero avuto
avuta avuti avute avendo
faccio fai fa facciamo fate fanno faceva fece sto stai sta stiamo stanno stava stavano
non più meno già ancora sempre mai così poi qui qua là lì ora allora quasi solo troppo
assai quanto quanta quanti quante
"""

_SPANISH = """
el la los las lo un una unos unas del al este esta estos estas ese esa esos esas aquel
aquella aquellos aquellas esto eso aquello mi mis tu tus su sus mío mía míos mías tuyo
tuya tuyos tuyas suyo suya suyos suyas nuestro nuestra nuestros nuestras vuestro vuestra
vuestros vuestras todo toda todos todas otro otra otros otras mismo misma mismos mismas
algún alguno alguna algunos algunas ningún ninguno ninguna cada cualquier mucho mucha
muchos muchas poco poca pocos pocas tanto tanta tantos tantas tal tales varios varias
ambos ambas algo nada alguien nadie
yo tú él ella ello nosotros nosotras vosotros vosotras ellos ellas usted ustedes me te se
nos os le les mí ti sí conmigo contigo consigo que quien quienes cual cuales cuyo cuya
cuyos cuyas qué quién cuál
ante bajo con contra de desde durante en entre hacia hasta mediante para por según sin
sobre tras
y e o u ni pero sino aunque porque pues si como cuando donde mientras así cómo cuándo
dónde entonces luego
ser soy eres es somos sois son era eras éramos erais eran fui fuiste fue fuimos fuisteis
fueron seré serás será seremos seréis serán sería serías seríamos seríais serían sea seas
seamos seáis sean fuera fueras fuéramos fueran fuese fuesen siendo sido
estar estoy estás está estamos estáis están estaba estabas estábamos estaban estuve
estuvo estuvieron estaré estará estarán estaría esté estén estado estada estando
haber he has ha hemos habéis han había habías habíamos habían hube hubo hubieron habré
habrá habrán habría habrían haya hayas hayamos hayan hubiera hubieran hubiese habido
habiendo hay
tener tengo tienes tiene tenemos tenéis tienen tenía tenían tuve tuvo tuvieron tendrá
tendrán tendría tenga tengan teniendo tenido
no más menos muy ya también tampoco siempre nunca aún todavía aquí allí ahí ahora antes
después solo sólo bien casi
"""

LANGUAGES = ("english", "french", "german", "italian", "spanish")
"""Languages that have a list."""

_LISTS = dict(
    zip(LANGUAGES, (_ENGLISH, _FRENCH, _GERMAN, _ITALIAN, _SPANISH), strict=True)
)


def list_stop_words(language: str) -> frozenset[str]:
    """Return the stop words of a language.

    Parameters
    ----------
    language : {"english", "french", "german", "italian", "spanish"}
        Which.

    Returns
    -------
    frozenset of str
        In lower case, with accents.

    Examples
    --------
    >>> from tercet.intake.texts.stopping import list_stop_words
    >>> "the" in list_stop_words("english"), "war" in list_stop_words("english")
    (True, False)
    """
    if language not in _LISTS:
        raise ParameterError(
            f"stop_words={language!r} is not a language with a list; choose one of "
            f"{', '.join(LANGUAGES)}, or give the words themselves."
        )
    return frozenset(_LISTS[language].split())
