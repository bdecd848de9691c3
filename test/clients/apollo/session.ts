/** Asks the login service of an application for a token of the player. */
export const fetchToken = async (): Promise<string> => (await fetch('/session', { method: 'POST' })).text();
