/* Sends the first query of the page and shows the response. */
const output = document.querySelector('output');
try {
  const query = document.querySelector('#query').textContent;
  const headers = { 'content-type': 'application/json' };
  const response = await fetch('/graphql', { method: 'POST', headers, body: JSON.stringify({ query }) });
  output.textContent = JSON.stringify(await response.json(), undefined, 2);
} catch (error) {
  output.textContent = `No response: ${error.message}`;
}
