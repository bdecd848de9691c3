import { ConnectionHandler, DefaultHandlerProvider } from 'relay-runtime';

/** Relay's own handlers would empty a list when its next page, or the first one read again, is null because of an error. */
export const handlerProvider: typeof DefaultHandlerProvider = (name) => {
  if (name !== 'connection') return DefaultHandlerProvider(name);
  return {
    update(store, payload) {
      const parent = store.get(payload.dataID);
      const isLost = parent?.getLinkedRecord(payload.handleKey) && !parent.getLinkedRecord(payload.fieldKey);
      if (!isLost) ConnectionHandler.update(store, payload);
    },
  };
};
