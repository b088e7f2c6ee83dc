/*
The book's trained models in the page: the same numbers as PyTorch's, to 1e-4.

  import { argmax, createSession, createTokenizer, loadModel } from "../engine/index.mjs";

  const model = await loadModel("manual-lm", { widget: model_of_anywidget, progress });
  const tokenizer = createTokenizer(model.tokenizer);   // if the model has one
  const session = createSession(model);
  let logits = session.read(tokenizer.encode("The statement"));    // prefill
  logits = session.read([argmax(logits)]);                         // one step

model    { name, kind, config, arguments, tokenizer, about, tensor(name) }; the config has
         Python's names. about.metrics; about.accuracy is null, or of an int8 model
         { measure: "validation bits per byte", float32, int8 }.
         Shipped: manual-lm, induction-1, induction-2 (Decoder), number-translator
         (EncoderDecoder), reverser (Classifier). unpack(bytes) reads a packed one.
session  createSession(model, { capacity, headFactor, placeOf }), all optional.
         capacity: tokens it can keep, max_len if not given.
         headFactor(part, layer, head) -> what a head's output is multiplied by; 0
         switches it off. It is asked in every pass, so it may change between two.
         placeOf(token) -> the position of the token of that number, from 0 to
         capacity - 1; the number itself if not given. Another one is a bug to look at.
  Decoder and EncoderDecoder
         read(tokens, watch) -> logits (vocab,) after the last of these tokens, which
         follow what was read; always the same array. length, capacity.
         rewind(length) forgets all but the first tokens.
         logits(stream, out) -> logits (vocab,) of a row of the stream, by the last norm
         and the unembedding: the logit lens.
  EncoderDecoder also
         encode(source, watch), first; it keeps keys and values, and rewinds to 0.
         Then read([start]), read([argmax(logits)]), ... until the end token.
  Classifier
         read(tokens, watch) -> logits (tokens, classes) in one array.
watch    { attention(part, layer, head, query, weights),
           stream(part, layer, query, x),
           added(part, layer, name, query, change, x) }, all optional; part is "decoder",
         "encoder" or "cross". weights are those of one query, (kept,); x is one row of
         the stream, (d_model,): layer 0 is the embeddings, layer l stands behind block l.
         change is what "attention", "cross" or "feed_forward" of a block added (before
         the norm, where that comes after), x the stream then. All are memory that the
         next row overwrites: copy what you keep, or use a recorder.
bring  bring(ui, name, ready) -> a line for a figure: a bar while the model comes, then what
         runs here, or why it did not load. ready(model) is called once, then ui.repaint().
recorder() is a watch with weights[part][layer][head][query] and
         streams[part][layer][query], copied.
tokenizer  encode(text) -> ids, decode(ids) -> text, bytes(id), special(name), size.
*/
export { bring } from "./bring.mjs";
export { loadModel } from "./load.mjs";
export { createSession, recorder } from "./models.mjs";
export { argmax } from "./ops.mjs";
export { unpack } from "./packed.mjs";
export { createTokenizer } from "./tokenizer.mjs";
