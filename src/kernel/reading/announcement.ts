/** `First, I'll split this among three agents.`, with any verb but those of which nothing follows. */
const ANNOUNCES =
  /^(?:[^,:;]{1,80}[,:;–—] ?)?(?:(?:ok(?:ay)?|sure|great|alright|now|first|next|then|so)[,.!]? )*(?:let me|let['’]s|i['’]ll|i will|i['’]m going to|i am going to) (?:first |now |then |also |just |quickly |start by |begin by )*(?![a-z]+ (?:back )?(?:to )?you\b|be\b|do\b|come|get back|have|need|not\b|never|always|wait|help|keep|let\b|rememb|stop|say|tell|expla|answer|respon|repl|summari|conclu|assum|know|leave|stay|stand)[a-z]+\b.*[.:…]$/i;
/** `Forking the children now:` */
const BEGINS = /^(?:now |first,? )?[a-z]+ing\b[^.!?]*(?: now[.:…]|:|…|\.\.\.)$/i;
/** What waits for a person or a time, and what is promised for later. */
const LEAVES =
  /\b(?:(?:once|when|until|unless|as soon as|whenever|from now on|from here on|going forward|in (?:the )?future|(?:every|each) time|tomorrow|later)\b|(?:know|if|after) you\b)/i;

/**
 * Announcements in other languages. Only verbs for what tools do count there, in the first person, at the beginning of a sentence, and a sentence that has
 * a condition, a time or a denial does not: a request for nothing costs a model more than an announcement that nobody minds.
 */
const LANGUAGES: readonly { readonly announces: RegExp; readonly leaves: RegExp }[] = [
  {
    announces:
      /^(?:(?:ok(?:ay)?|gut|gern|klar|alles klar|verstanden)[,.!] )?(?:um [^,]{1,80}, )?(?:(?:(?:jetzt|nun|zuerst|zunächst|als (?:erstes|nächstes)) )?(?:(?:ich werde|werde ich|lass(?:en sie)? mich|lasst? uns) (?:.* )?(?:(?:an|durch|nach)?(?:lesen|sehen|schauen)|ausführen|(?:über)?prüfen|untersuchen|öffnen|starten|(?:durch)?suchen|analysieren|erstellen|beheben|aufteilen|beginnen)|ich beginne (?:jetzt )?(?:mit|damit)\b.*)|ich (?:lese|(?:über)?prüfe|untersuche|öffne|starte|(?:durch)?suche|analysiere|(?:sehe|schaue) mir) (?:.* )?(?:jetzt|nun|zuerst|zunächst|als erstes)\b.*|(?:jetzt|nun|zuerst|zunächst|als erstes) (?:lese|(?:über)?prüfe|untersuche|öffne|starte|(?:durch)?suche|analysiere|(?:sehe|schaue)(?= ich mir)) ich\b.*)[.:…]$/iu,
    leaves:
      /(?<!\p{L})(?:wenn|falls|sobald|sofern|bis|nachdem|ab (?:jetzt|sofort)|künftig|in zukunft|immer|stets|jede[nrsm]?|täglich|morgen|später|um \d+|nicht|nie|kein\p{L}*|du|sie)(?!\p{L})(?! mich\b)/iu,
  },
  {
    announces:
      /^(?:(?:ok|d['’]accord|bien(?: sûr)?|très bien|parfait|entendu|compris)[,.!] )?(?:pour [^,]{1,80}, )?(?:(?:(?:tout )?d['’]abord|maintenant|pour commencer),? )*(?:je vais|laissez?-moi|je commence par|commençons par) (?:(?:(?:tout )?d['’]abord|maintenant|commencer par) )*(?:l['’]|les? |la |y )?(?:lire|regarder|examiner|vérifier|consulter|ouvrir|lancer|exécuter|(?:re)?chercher|analyser|inspecter|explorer|parcourir|créer|corriger|répartir|lister)(?!\p{L}).*[.:…]$/iu,
    leaves:
      /(?<!\p{L})(?:si|quand|lorsqu\p{L}*|dès|une fois|après|jusqu\p{L}*|demain|toujours|désormais|dorénavant|chaque|à l['’]avenir|plus tard|pas|rien|jamais|vous|tu)(?!\p{L})/iu,
  },
  {
    announces:
      /^(?:(?:ok|vale|claro|bien|perfecto|entendido|de acuerdo|por supuesto)[,.!] )?(?:para [^,]{1,80}, )?(?:(?:primero|ahora|para empezar|en primer lugar),? )*(?:(?:voy a|déj[ae]me|permít[ae]me|vamos a|empezaré por|comenzaré por) (?:(?:primero|ahora|(?:empezar|comenzar) (?:por|a)) )*(?:leer|revisar|ver|mirar|examinar|comprobar|verificar|ejecutar|buscar|abrir|analizar|crear|explorar|inspeccionar|corregir|repartir|listar)(?:l[oae]s?)?|(?:leeré|revisaré|examinaré|comprobaré|verificaré|ejecutaré|buscaré|abriré|analizaré|exploraré))(?!\p{L}).*[.:…]$/iu,
    leaves:
      /(?<!\p{L})(?:si|cuando|en cuanto|una vez|después|hasta|mañana|siempre|a partir de|en adelante|cada|más tarde|no|nada|nunca|usted(?:es)?|tú)(?!\p{L})/iu,
  },
  {
    announces:
      /^(?:(?:ок|хорошо|ладно|конечно|понял[аи]?|понятно|отлично)[,.!] )?(?:чтобы [^,]{1,80}, )?(?:(?:(?:сначала|сейчас|теперь|для начала|прежде всего),? |я )*(?:прочитаю|прочту|посмотрю|просмотрю|проверю|изучу|запущу|открою|найду|поищу|создам|проанализирую|исправлю|начну с)|давай(?:те)? (?:(?:сначала|сейчас|теперь) )?(?:прочитаем|посмотрим|проверим|изучим|запустим|откроем|начн[её]м с))(?!\p{L}).*[.:…]$/iu,
    leaves:
      /(?<!\p{L})(?:если|когда|как только|после|пока|завтра|потом|позже|кажд\p{L}+|всегда|впредь|не|ничего|никогда|вы|ты)(?!\p{L})/iu,
  },
  {
    announces:
      /^(?:(?:好的?|没问题|明白了?|当然|首先|现在|接下来|下面|那么?)[，,。！!]? ?)*(?:为了[^，,]{1,40}[，,])?(?:让我们?|我(?:现在|将|会|要|来|先|马上|这就|首先|开始)+)[^，。不已了过]{0,20}?(?:读取|阅读|读一?下|查看|看看|看一[看下]|检查|运行|执行|搜索|查找|打开|分析|浏览|列出|创建|修改|修复|启动|拆分)(?![了过]).*[。.：:…]$/u,
    leaves:
      /如果|若|一旦|等|待|(?<![然随最])后|时[，,]|明天|稍|每|总是|以后|不|没有|请|(?<![帮为给])[你您](?!的)/u,
  },
  {
    announces:
      /^(?:(?:はい|了解(?:です|しました)|承知(?:いた)?しました|わかりました)[、。] ?)*(?:(?:まずは?|これから|今から|それでは|では|最初に|はじめに|さっそく|早速)、?(?:私は、?)?[^は]{0,60}(?:読み(?:込み)?|確認し|調べ|調査し|実行し|検索し|開き|分析し|把握し|作成し|修正し|(?:読んで|見て|調べて|して|開いて)(?:み|いき))(?:ます|ましょう)|[^は]{1,60}(?:読んで|見て|調べて|確認して|開いて)みます)[。.：:…]$/u,
    leaves: /たら|れば|とき|場合|後で|次第|毎|いつも|明日|今後|ください/u,
  },
];

/** A text that ends with its only code block, in its parts; null for any other. Split, because a pattern would run out of stack on a long text. */
export function fencedEnd(text: string): { said: string; language: string; block: string } | null {
  const [said = '', fenced = '', ...rest] = text.trim().split('```');
  const begin = fenced.indexOf('\n');
  const language = fenced.slice(0, Math.max(0, begin));
  const end = fenced.length - 1;
  if (rest.length !== 1 || rest[0] !== '' || begin < 0 || end <= begin || fenced[end] !== '\n') return null;
  return /^\w*$/.test(language) ? { said, language, block: fenced.slice(begin + 1, end) } : null;
}

/** Whether the last sentence of an answer announces a call, and asks or waits for nobody. */
export function announcesCalls(text: string): boolean {
  // Commands in a code block at the end are what was announced.
  const last =
    (fencedEnd(text)?.said ?? text)
      .trim()
      .split(/(?<=[.!?:…])\s+|(?<=[。！？])\s*|\n+/)
      .findLast((sentence) => sentence !== '') ?? '';
  if (last.length >= 300) return false;
  if (ANNOUNCES.test(last) || BEGINS.test(last)) return !LEAVES.test(last);
  return LANGUAGES.some(({ announces, leaves }) => announces.test(last) && !leaves.test(last));
}

/** Whether a sentence, in any language, ends with a colon, behind which nothing follows. */
export function endsOpen(text: string): boolean {
  return /(?:[^\n]{12}|[\u3000-\uffef]{4})[:：]\s*$/.test(text) && !LEAVES.test(text);
}
