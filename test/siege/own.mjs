export const OWN = [];
