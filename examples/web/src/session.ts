/** What the login service of this example returns: a token of the player, and where the gateway is. */
export interface Session {
  token: string;
  graphql: string;
}

/** Signs in, as a real application does with its own login service. Throws when that cannot be reached. */
export async function signIn(): Promise<Session> {
  const response = await fetch('/session', { method: 'POST' });
  if (!response.ok) throw new Error(`The login service answered ${response.status}`);
  return await response.json();
}
