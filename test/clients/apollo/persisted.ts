import { TypedDocumentString } from '@referral-gateway/client';
import type { FriendsPageQuery, FriendsPageQueryVariables } from './generated/graphql';
import { FriendsPage } from './operations';

/** As `documentMode: 'string'` of the code generator writes it, with the hash of `persistedDocuments`. */
export const FriendsText = new TypedDocumentString<FriendsPageQuery, FriendsPageQueryVariables>('', {
  hash: Reflect.get(FriendsPage, '__meta__')?.hash,
});
