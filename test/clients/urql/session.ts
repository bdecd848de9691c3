/** Asks the login service of an application for a token of the player. */
export async function fetchToken(): Promise<string> {
  const response = await fetch('/session', { method: 'POST' });
  if (!response.ok) throw new Error(`The login service responded with ${response.status}`);
  return await response.text();
}
