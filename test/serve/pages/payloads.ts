/** Texts that run a script wherever they are treated as markup, a URL or code; each would set `window.ran`. */
export const PAYLOADS: readonly string[] = [
  '<script>window.ran=1</script>',
  '<img src=x onerror="window.ran=2">',
  '<svg onload="window.ran=3">',
  '<svg><script>window.ran=4</script></svg>',
  '"><script>window.ran=5</script>',
  "'><img src=x onerror='window.ran=6'>",
  '<iframe srcdoc="<script>parent.ran=7</script>"></iframe>',
  '<a href="javascript:window.ran=8" autofocus onfocus="window.ran=8">x</a>',
  'javascript:window.ran=9',
  '<details open ontoggle="window.ran=10">',
  '<body onload="window.ran=11">',
  '<input autofocus onfocus="window.ran=12">',
  '<video><source onerror="window.ran=13"></video>',
  '<math><mtext></form><form><mglyph><style></math><img src onerror="window.ran=14">',
  '</title><script>window.ran=15</script>',
  '</textarea><script>window.ran=16</script>',
  '<style>@import "javascript:window.ran=17"</style>',
  '<object data="javascript:window.ran=18"></object>',
  '<meta http-equiv="refresh" content="0;url=javascript:window.ran=19">',
  '{{constructor.constructor("window.ran=20")()}}',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is one, for whoever evaluates it.
  '${window.ran=21}',
  '<template><img src=x onerror="window.ran=22"></template>',
  '&lt;img src=x onerror=window.ran=23&gt;',
  '<marquee onstart="window.ran=24">',
  '@@ -1,1 +1,1 @@\n-<img src=x onerror="window.ran=25">\n+<script>window.ran=25</script>',
];

/** Variants of a payload that close the surrounding markup or bypass a filter. */
const DISGUISES: readonly ((payload: string) => string)[] = [
  (payload) => payload,
  (payload) => `">${payload}`,
  (payload) => `'>${payload}`,
  (payload) => `-->${payload}`,
  (payload) => `</textarea></title></style></script>${payload}`,
  (payload) => `&quot;&gt;${payload}`.replaceAll('<', '&lt;').replaceAll('"', '&quot;'),
  (payload) => encodeURI(`">${payload}`),
  (payload) => `\u202e${payload.toUpperCase()}`,
];

/** Two hundred payloads in all. */
export const DISGUISED: readonly string[] = DISGUISES.flatMap((disguise) => PAYLOADS.map(disguise));
