/* The rows of attacks that are in no table. */

const NOBODY = 0.8;
const CALLER = 0.6;

export const OWN = [
  { name: 'endless bodies after their refusal', attack: 'floodAfterRefusal', answers: NOBODY },
  { name: 'JSON of 20,000 keys with a valid token', attack: 'uniqueKeys', answers: CALLER },
  { name: 'documents of overlapping fields', attack: 'overlappingFields', answers: CALLER },
  { name: 'large responses that nobody reads', attack: 'unreadResponses', answers: CALLER },
  { name: '1,500 requests in one write', attack: 'pipelined', answers: NOBODY },
  { name: 'JSON 30,000 levels deep', attack: 'deepNesting', answers: CALLER },
  { name: 'long texts of which no two are alike', attack: 'forgetting', answers: CALLER },
  { name: 'aliases of 120 characters in long lists', attack: 'longAliases', answers: CALLER },
  { name: '190 headers, 200 times a second', attack: 'headerFlood', answers: NOBODY },
  { name: 'operations that are abandoned', attack: 'abandoned', answers: CALLER },
  { name: 'compressed bodies of 100 MB', attack: 'compressedBodies', answers: CALLER },
];
