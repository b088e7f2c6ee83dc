import { paletteCSS } from "./palette.mjs";

// Inside a shadow root: nothing of the page leaks in but font and color.
export const kitCSS = `
:host{display:block;font-size:inherit;line-height:1.5;text-align:start;white-space:normal}
${paletteCSS}
.fig{--mono:ui-monospace,Menlo,Consolas,monospace;
--small:max(12px,.82em);--gap:.75rem;font-size:max(14px,1em);container-type:inline-size;overflow-wrap:anywhere;
border-block:1px solid var(--soft);padding:.9rem 2px;margin:1rem 0;font-variant-numeric:tabular-nums}
*,::before{box-sizing:border-box}
p{margin:0}
[hidden]{display:none!important}
.try,.keys,.name,caption,.title small{color:var(--quiet)}
.try,.controls,.formula,.error{margin-bottom:var(--gap)}
.try{font-size:max(13px,.92em)}
.controls,.picture,.foot,.menu{display:flex;flex-wrap:wrap;gap:.5rem}
.controls{font-size:max(13px,.88em);gap:.5rem 1.25rem;align-items:center}
.control,summary,.options label{display:inline-flex;align-items:center}
.control{min-height:32px;max-width:100%;min-width:0;border:0;margin:0;padding:0;gap:.5rem}
.control:has(small){flex-wrap:wrap}small{width:0;min-width:100%}small:empty{min-width:0;margin-left:-.5rem}
output{min-width:3.2em}
button,select,input,textarea,summary{font:inherit;color:inherit;
background:none;border:1px solid var(--line);border-radius:6px;margin:0}
button,select,input,textarea,summary,.options label{min-height:32px;min-width:32px;padding:2px 10px}
select,option{color:var(--text);background:var(--ground)}
button,summary,select,label,[type=range]{cursor:pointer;touch-action:manipulation}
:is(button,summary):hover:not(:disabled){background:var(--surface)}
:disabled,[aria-disabled=true]{opacity:.5;cursor:default}
[type=number]{width:6.5em}
[type=text]{width:20em;max-width:100%;flex:1 1 8em}
input{accent-color:var(--query);outline-offset:0}
[type=range]{touch-action:pan-y pinch-zoom;width:9rem;min-width:5rem;height:28px;padding:0;flex:0 1 auto}
[type=checkbox]{min-width:18px;min-height:18px}
.choice .name{padding:0;float:left}
.options{display:inline-flex;border:1px solid var(--line);border-radius:6px;overflow:hidden}
.options label{position:relative;justify-content:center;white-space:nowrap}
.options label+label{border-inline-start:1px solid var(--line)}
.options input{position:absolute;inset:0;width:100%;height:100%;opacity:0}
.options label:has(:checked),.formula button.lit{background:var(--text);color:var(--ground)}
.options label:has(:focus-visible){outline:2px solid currentColor;outline-offset:-5px}
:focus-visible{outline:2px solid currentColor;scroll-margin:3rem 0 45vh}
:is(.controls,.formula) :focus-visible{scroll-margin:3rem 0 86vh}
.formula{display:grid;gap:.25rem;padding:.4rem .6rem;
background:var(--surface);border-radius:6px}
.formula>div{line-height:1.9;white-space:pre-wrap}
.equation{font-size:1.1em;font-family:Georgia,serif}
.code,.formula .code button{font-family:var(--mono);font-size:max(12.5px,.85em)}
.formula button{min-height:24px;min-width:24px;padding:0 2px;border-radius:4px;
border-color:transparent;border-bottom:1px dotted var(--line);line-height:1.5}
.picture{gap:.75rem 1.5rem;align-items:flex-start}
.panel,details{min-width:0;max-width:100%}
.title{font-size:max(13px,.88em);margin:0 0 .15rem;line-height:1.4}
.title small{font-size:max(12px,.92em)}
.scroll{overflow-x:auto;max-width:100%}
details .scroll{background:linear-gradient(270deg,var(--page) 50%,#0000) 100%/3rem 100% local,
linear-gradient(270deg,var(--line),#0000) 100%/1rem 100%;background-repeat:no-repeat}
svg{display:block;font-size:12.5px;overflow:visible}
svg text{fill:currentColor;dominant-baseline:central;unicode-bidi:isolate}
.token{font-family:var(--mono);font-size:12.5px}
.query{fill:var(--query)!important}.key{fill:var(--key)!important}
.value{fill:var(--value)!important}.position{fill:var(--position)!important}
.quiet{fill:var(--quiet)!important}.strong{font-weight:700}
.axis path{fill:none;stroke-width:2}.axis .query,.axis .key{font-size:12px}
.axis path.query{fill:none!important;stroke:var(--query)}
.axis path.key{fill:none!important;stroke:var(--key);stroke-dasharray:5 3}
[data-row]{outline:none;cursor:pointer}
.box{stroke:var(--line);stroke-width:1}
.hatch{stroke:var(--line);stroke-width:1;fill:none}
.masked>text{paint-order:stroke;stroke:var(--ground);stroke-width:5px;stroke-linejoin:round}
.area{display:none}
.ring,.halo{fill:none;stroke-width:1.5;pointer-events:none}
:is(.locked,.active,:focus-visible)>.ring{stroke:var(--text)}
:is(.locked,.active,:focus-visible)>.halo{stroke:var(--ground)}
.locked>.ring,:focus-visible>.ring{stroke-width:2.5}:focus-visible>.ring{stroke-dasharray:4 3}
.locked:not(.active)>.ring{stroke-width:1}svg:has(.locked:not(.active)) .active>.ring{stroke-width:2.5}
.lit>.box{stroke:var(--text);stroke-width:2}
.told{background:var(--page);margin-top:calc(var(--gap) - 4px);padding-top:4px}
.say{font-size:max(14px,.95em)}.say::before{content:"";float:left;margin-bottom:.5rem;height:var(--room,3em)}.say span{white-space:nowrap}
@media (min-height:30rem){.used .told{position:sticky;bottom:0;z-index:2;box-shadow:0 -1px var(--soft)}}
.foot,.menu,.keys,details>div,textarea{margin-top:.5rem}
.foot,.keys{font-size:var(--small);clear:both}
details{flex-basis:100%}
@supports selector(::details-content){.foot details{display:contents}
.foot ::details-content{order:1;flex-basis:100%;min-width:0}.foot details:not([open])::details-content{display:none}}
summary{list-style:none}
summary::before{content:"▸";margin-inline-end:.45em}
details[open]>summary::before{content:"▾"}
summary::-webkit-details-marker{display:none}
textarea{width:100%;min-height:9em;font-family:var(--mono);font-size:12.5px}
table{border-collapse:collapse;overflow-wrap:break-word}
th,td{border:1px solid var(--soft);padding:.15rem .5rem;text-align:end;max-width:16em}
caption,th{text-align:start}
.error{border:2px solid;padding:.6rem;border-radius:6px}
@media (pointer:coarse){button,select,summary,.control,input,.options label{min-height:44px}
button,select,.options label{min-width:44px}.formula button{min-height:32px}
[type=checkbox]{min-height:24px;width:24px}}
@media (forced-colors:active){svg{forced-color-adjust:none;color:CanvasText}
.box{fill:Canvas!important;stroke:CanvasText}.hatch{stroke:CanvasText}
svg text,svg text[class]{fill:CanvasText!important}.masked>text{stroke:Canvas}.axis path{stroke:CanvasText}.area{display:inline;fill:CanvasText}
:is(.locked,.active,:focus-visible)>.ring{stroke:Highlight}
.options label:has(:checked),.formula button.lit{forced-color-adjust:none;background:Highlight;
color:HighlightText}}
@media (hover:none) and (pointer:coarse){.keys{display:none}}
@media not ((hover:none) and (pointer:coarse)){.tap{display:none}}
@container (max-width:30rem){.say{--room:6em}.control:has([type=range],[type=text]){
width:100%}[type=range]{flex:1}.choice{flex-wrap:wrap}}
@media print{.controls,.foot,.try{display:none}}
`;
