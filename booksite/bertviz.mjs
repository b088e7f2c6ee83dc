// What BertViz's views ask require.js for: jQuery, and the parts of D3 that they use.
import { hsl } from "d3-color";
import { scaleOrdinal } from "d3-scale";
import { schemeCategory10 } from "d3-scale-chromatic";
import { select } from "d3-selection";
import $ from "jquery";

globalThis.BertVizParts = [$, { hsl, scaleOrdinal, schemeCategory10, select }];
