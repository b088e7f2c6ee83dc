import { paletteCSS } from "./palette.mjs";

// Inside a shadow root: nothing of the page leaks in but font and color.
export const kitCSS = `
:host{display:block;font-size:inherit;line-height:1.5;text-align:start;white-space:normal}
${paletteCSS}
.fig{--mono:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;
--small:max(12px,.82em);--gap:.75rem;font-size:max(14px,1em);container-type:inline-size;
border-block:1px solid var(--soft);padding:.9rem 2px;margin:1rem 0;text-wrap:pretty}
.fig *,.fig *::before{box-sizing:border-box}
.fig p{margin:0}
[hidden]{display:none!important}
.try{color:var(--quiet);font-size:max(13px,.92em);margin-bottom:var(--gap)!important}
.try b{font-weight:600;color:inherit}
.controls{display:flex;flex-wrap:wrap;gap:.5rem 1.25rem;align-items:center;
margin-bottom:var(--gap)}
.control{display:inline-flex;align-items:center;gap:.5rem;min-height:32px;
font-size:max(13px,.88em);max-width:100%;border:0;margin:0;padding:0;min-width:0}
.control .control{font-size:inherit}.controls>button{font-size:max(13px,.88em)}
.control>.name{color:var(--quiet)}
output{font-variant-numeric:tabular-nums;min-width:3.2em;display:inline-block}
button,select,input[type=text],input[type=number],textarea{font:inherit;color:inherit;
background:transparent;border:1px solid var(--line);border-radius:6px;min-height:32px;
min-width:32px;padding:2px 10px;margin:0}
select,option{background:var(--ground);color:var(--text)}
button,summary,select,label,input[type=checkbox],input[type=radio],input[type=range]{
cursor:pointer;touch-action:manipulation}
button:hover:not(:disabled),summary:hover{background:var(--surface)}
button:disabled,input:disabled{opacity:.5;cursor:default}
input[type=number]{width:5.5em;font-variant-numeric:tabular-nums}
input[type=text]{width:20em;max-width:100%;flex:1 1 8em}
input[type=range],input[type=checkbox],input[type=radio]{accent-color:var(--accent)}
input[type=range]{width:9rem;min-width:5rem;height:28px;margin:0;flex:0 1 auto}
input[type=checkbox]{width:18px;height:18px;margin:0}
.choice .name{padding:0;float:left}
.choice{gap:.5rem}
.options{display:inline-flex;border:1px solid var(--line);border-radius:6px}
.options label{display:inline-flex;align-items:center;position:relative;min-height:30px;
padding:1px 10px;white-space:nowrap}
.options label+label{border-inline-start:1px solid var(--line)}
.options label:first-child{border-start-start-radius:5px;border-end-start-radius:5px}
.options label:last-child{border-start-end-radius:5px;border-end-end-radius:5px}
.options input{position:absolute;inset:0;width:100%;height:100%;opacity:0;margin:0}
.options label:has(:checked){background:var(--text);color:var(--ground)}
.options label:has(:focus-visible){outline:2px solid currentColor;outline-offset:2px}
.options label:has(:checked):has(:focus-visible){outline-color:var(--text)}
:focus-visible{outline:2px solid currentColor;outline-offset:2px}
.formula{display:grid;gap:.25rem;margin-bottom:var(--gap);padding:.4rem .6rem;
background:var(--surface);border-radius:6px;overflow-wrap:anywhere}
.formula>div{line-height:1.9;white-space:pre-wrap}
.equation{font-family:"Latin Modern Math","STIX Two Text",Georgia,"Times New Roman",serif;
font-size:1.1em}
.code,.formula .code button{font-family:var(--mono);font-size:max(12.5px,.85em)}
.formula button{font:inherit;min-height:24px;min-width:24px;padding:0 2px;border-radius:4px;
border-color:transparent;border-bottom:1px dotted var(--line);line-height:1.5}
.lit{transition:background-color .12s}
.formula .lit{background:var(--text);color:var(--ground)}
.picture{display:flex;flex-wrap:wrap;gap:.75rem 1.5rem;align-items:flex-start}
.panel{min-width:0;max-width:100%}
.title{font-size:max(13px,.88em);margin:0 0 .15rem;line-height:1.4}
.title small{font-size:max(12px,.92em);color:var(--quiet)}
.scroll{overflow-x:auto;max-width:100%}
svg{display:block;font-size:12.5px;overflow:visible}
svg text{fill:currentColor;dominant-baseline:central;font-variant-numeric:tabular-nums;
unicode-bidi:isolate}
.token{font-family:var(--mono);font-size:12.5px}
.query{fill:var(--query)!important}.key{fill:var(--key)!important}
.value{fill:var(--value)!important}.position{fill:var(--position)!important}
.quiet{fill:var(--quiet)!important}
.strong{font-weight:700}
[data-row]{outline:none;cursor:pointer}
.box{stroke:var(--line);stroke-width:1}
.hatch{stroke:var(--line);stroke-width:1;fill:none}
.masked>text{paint-order:stroke;stroke:var(--ground);stroke-width:5px;stroke-linejoin:round}
.veil{fill:var(--surface)}
.area{display:none}
.ring{fill:none;stroke:none;stroke-width:2;pointer-events:none}
.halo{fill:none;stroke:none;stroke-width:1;pointer-events:none}
.locked>.ring{stroke:var(--text)}.locked>.halo{stroke:var(--ground)}
.active>.ring{stroke:var(--text)}.active:not(.locked)>.ring{stroke-width:1}
.active>.halo{stroke:var(--ground)}
[data-row]:focus-visible>.ring{stroke:var(--text);stroke-width:2;stroke-dasharray:4 3}
[data-row]:focus-visible>.halo{stroke:var(--ground)}
.lit>.box{stroke:var(--text);stroke-width:2}
.say{margin-top:var(--gap)!important;font-size:max(14px,.95em);min-height:3em;overflow-wrap:anywhere}
.keys{color:var(--quiet);font-size:var(--small);margin-top:.5rem!important}
.foot{display:flex;flex-wrap:wrap;gap:.5rem;align-items:flex-start;margin-top:.5rem;
font-size:var(--small)}
details{min-width:0;max-width:100%}
details[open]{flex-basis:100%;order:1}
summary{display:inline-flex;align-items:center;min-height:32px;padding:2px 10px;
border:1px solid var(--line);border-radius:6px;list-style:none}
summary::before{content:"▸";margin-inline-end:.45em}
details[open]>summary::before{content:"▾"}
summary::-webkit-details-marker{display:none}
details>div{margin-top:.5rem}
.menu{display:flex;flex-wrap:wrap;gap:.5rem}
textarea{width:100%;min-height:9em;margin-top:.5rem;font-family:var(--mono);font-size:12.5px;
padding:.5rem;white-space:pre;overflow:auto}
table{border-collapse:collapse;font-size:var(--small);font-variant-numeric:tabular-nums}
caption{text-align:start;color:var(--quiet);padding-bottom:.25rem}
th,td{border:1px solid var(--soft);padding:.15rem .5rem;text-align:end;
overflow-wrap:anywhere;max-width:16em}
th{text-align:start;font-weight:600}
.error{border:2px solid currentColor;border-radius:6px;padding:.6rem .8rem;
margin-bottom:var(--gap)!important;overflow-wrap:anywhere}
@media (pointer:coarse){button,select,summary,.control,input[type=text],input[type=number],
.options label{min-height:44px}input[type=range]{height:44px}
button,select{min-width:44px}.formula button{min-height:32px}
input[type=checkbox]{width:24px;height:24px}}
@media (prefers-reduced-motion:reduce){.fig *{transition:none!important;animation:none!important}}
@media (forced-colors:active){.fig *{transition:none}svg{forced-color-adjust:none;color:CanvasText}
.box,.veil{fill:Canvas!important;stroke:CanvasText}.hatch{stroke:CanvasText}
svg text{fill:CanvasText!important}.area{display:inline;fill:CanvasText}
.locked>.ring,.active>.ring,[data-row]:focus-visible>.ring{stroke:Highlight;stroke-width:3}
.options label:has(:checked),.formula .lit{forced-color-adjust:none;background:Highlight;
color:HighlightText}}
@media (hover:none) and (pointer:coarse){.keys{display:none}}
@container (max-width:30rem){.say{min-height:6em}.control:has(input[type=range]),.control:has(input[type=text]){
width:100%}.control input[type=range]{flex:1}.choice{flex-wrap:wrap}}
@media print{.controls,.foot,.try{display:none}}
`;
