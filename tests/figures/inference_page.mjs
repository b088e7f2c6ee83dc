// A figure without a picture, for the tests and the benchmark: it gives a page the
// inference, bundled as the figures are.
import * as inference from "../../transformer_book/figures/engine/index.mjs";

(globalThis.TestInference ??= []).push(inference);
