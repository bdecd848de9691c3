/** Names and addresses of this machine that nothing outside of it can reach. */
export const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[?::1\]?)$/i;
