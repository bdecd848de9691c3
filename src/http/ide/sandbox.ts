import type { Example, Page } from './pages.ts';

const SCRIPT = 'https://embeddable-sandbox.cdn.apollographql.com/v2/embeddable-sandbox.umd.production.min.js';
/** How long the browser may take to load the Sandbox, in milliseconds: a firewall can leave it without any answer. */
const LOADING_MS = 3_000;

/**
 * The page with the Apollo Sandbox and the first example. Its script is loaded from the internet; operations and responses are
 * exchanged only between the browser and this gateway. It requests the schema once, not every second as by default: reload
 * the page after a change of the schema. When the script does not load, the page shows a link to GraphiQL.
 */
export function sandboxPage([first]: readonly Example[]): Page {
  const initialState = { document: first?.document, includeCookies: false, pollForSchemaUpdates: false };
  const options = { target: '#sandbox', initialState, endpointIsEditable: false, runTelemetry: false };
  const html = `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Apollo Sandbox</title>
<style>
  body { font: 16px/1.6 sans-serif; margin: 3em }
  #sandbox iframe { position: absolute; inset: 0; width: 100%; height: 100%; border: 0; background: white }
</style>
<div id="sandbox"></div>
<p id="offline" role="alert" hidden>The Apollo Sandbox needs the internet. <a href="/graphiql">GraphiQL</a> works offline.</p>
<script>
  const show = (offline) => { document.querySelector('#offline').hidden = !offline };
  setTimeout(() => window.EmbeddedSandbox || show(true), ${LOADING_MS});
  const script = document.createElement('script');
  script.onerror = () => show(true);
  script.onload = () => {
    show(false);
    new window.EmbeddedSandbox({ ...${JSON.stringify(options).replaceAll('<', '\\u003c')}, initialEndpoint: location.href });
  };
  script.src = '${SCRIPT}';
  document.head.append(script);
</script>
</html>
`;
  return { html, policy: POLICY };
}

/** What the page may load. The Sandbox is a frame; its script sends the operations. */
const POLICY =
  "script-src 'unsafe-inline' https://embeddable-sandbox.cdn.apollographql.com; style-src 'unsafe-inline'; img-src 'none'; frame-src https://sandbox.embed.apollographql.com; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
