/* What deploy/gateway.yaml uses of Envoy Gateway 1.5 (api/v1alpha1), which no package has types of. */
interface Policy<Kind extends string, Target extends string, Spec> {
  apiVersion: 'gateway.envoyproxy.io/v1alpha1';
  kind: Kind;
  metadata: { name: string };
  spec: Spec & { targetRefs: { group: 'gateway.networking.k8s.io'; kind: Target; name: string }[] };
}

export type IBackendTrafficPolicy = Policy<
  'BackendTrafficPolicy',
  'Gateway' | 'HTTPRoute',
  {
    timeout?: { http?: { connectionIdleTimeout?: string; maxConnectionDuration?: string; requestTimeout?: string } };
    requestBuffer?: { limit: string };
  }
>;

export type IClientTrafficPolicy = Policy<
  'ClientTrafficPolicy',
  'Gateway',
  {
    timeout?: { http?: { requestReceivedTimeout?: string; streamIdleTimeout?: string; idleTimeout?: string } };
    connection?: { connectionLimit?: { value: number; closeDelay?: string }; bufferLimit?: string };
  }
>;
