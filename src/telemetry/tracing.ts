/* Imported only when a collector is named. The SDK itself reads the standard `OTEL_*` variables. */
import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import * as otel from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { UndiciInstrumentation, type UndiciRequest } from '@opentelemetry/instrumentation-undici';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { FastifyBaseLogger } from 'fastify';
import { HttpsProxyAgent } from 'https-proxy-agent';
import type { EgressProxy } from '../config/config.ts';
import { proxyFor, USER_AGENT } from '../egress-proxy.ts';
import { reasonOf } from '../errors.ts';
import { ID_PLACEHOLDER } from '../rest/endpoints.ts';
import { isTracedByAgent, type Trace } from './observe.ts';

/** `service.name`, unless the environment has another one. */
const SERVICE_NAME = 'referral-gateway';
/** How long the remaining spans may take at the end, in milliseconds. */
const SEND_WITHIN_MS = 1_000;
/** How long no further failed export is logged, in milliseconds. */
const QUIET_MS = 600_000;
const propagator = new W3CTraceContextPropagator();

/**
 * Traces over OTLP/HTTP. By default a trace is sampled as its client decided, and always without a client's trace. Undefined when
 * an agent traces; that of OpenTelemetry reads the same settings.
 */
export function startTracing(collector: URL, proxy: EgressProxy | undefined, log: FastifyBaseLogger) {
  if (isTracedByAgent()) return void log.info('an agent traces the REST calls; the gateway itself exports no traces');
  const via = proxyFor(collector, proxy);
  const headers = { 'user-agent': USER_AGENT };
  let quietUntil = 0;
  // OpenTelemetry reports a failed export only here.
  const error = (reason: string) => {
    if (performance.now() < quietUntil) return;
    quietUntil = performance.now() + QUIET_MS;
    log.warn({ reason: reason.slice(0, 300) }, 'traces cannot be exported');
  };
  otel.diag.setLogger(Object.assign(new otel.DiagConsoleLogger(), { error }), otel.DiagLogLevel.ERROR);
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': SERVICE_NAME }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [
      new BatchSpanProcessor(
        new OTLPTraceExporter(
          via === undefined ? {} : { httpAgentOptions: () => new HttpsProxyAgent(via, { headers }) },
        ),
      ),
    ],
  });
  // A setting that cannot be used is reported by now; it must not hide that the collector is away.
  quietUntil = 0;
  const tracer = provider.getTracer(SERVICE_NAME);
  const restCalls = traceRestCalls(provider);
  return {
    /** Begins the span of a request, as part of the client's trace if there is one. */
    begin(headers: IncomingHttpHeaders): Trace {
      const parent = propagator.extract(otel.ROOT_CONTEXT, headers, otel.defaultTextMapGetter);
      const span = tracer.startSpan('GraphQL operation', { kind: otel.SpanKind.SERVER }, parent);
      return {
        traceId: span.spanContext().traceId,
        headers: Object.entries(headersOf(span)).flat(),
        end({ name, type, codes: [error] }) {
          if (type) span.updateName(name ? `${type} ${name}` : type).setAttribute('graphql.operation.type', type);
          if (name) span.setAttribute('graphql.operation.name', name);
          if (error) span.setStatus({ code: otel.SpanStatusCode.ERROR }).setAttribute('error.type', error);
          span.end();
        },
      };
    },
    /** Sends the remaining spans; gives up after a second, and when `forced` aborts. A collector may be away: no error. */
    async stop(forced: AbortSignal): Promise<void> {
      restCalls.disable();
      const sent = provider.shutdown().catch((error: unknown) => otel.diag.error(reasonOf(error)));
      if (!forced.aborted) await Promise.race([sent, once(forced, 'abort'), setTimeout(SEND_WITHIN_MS)]);
    },
  };
}

/** `traceparent` and perhaps `tracestate` of what a span causes. */
function headersOf(span: otel.Span): Record<string, string> {
  const headers: Record<string, string> = {};
  propagator.inject(otel.trace.setSpan(otel.ROOT_CONTEXT, span), headers, otel.defaultTextMapSetter);
  return headers;
}

/**
 * A span for each attempt of a REST call. undici may create a request when another one frees a connection, in the context of
 * that one. So its parent is not the active context, but the span in its own `traceparent`, which the new span replaces.
 */
function traceRestCalls(provider: otel.TracerProvider): UndiciInstrumentation {
  let parent = otel.ROOT_CONTEXT;
  const instrumentation = new UndiciInstrumentation({
    // Only REST calls have the header: the keys of an identity provider are fetched without it.
    ignoreRequestHook: ({ headers }) => traceparentIn(headers) === 0,
    startSpanHook({ path, headers }) {
      const sent = { traceparent: headers[traceparentIn(headers)] };
      parent = propagator.extract(otel.ROOT_CONTEXT, sent, otel.defaultTextMapGetter);
      // URLs contain players' ids.
      return {
        'user_agent.original': undefined,
        'url.full': undefined,
        'url.path': undefined,
        'url.query': undefined,
        'url.template': templateOf(path),
      };
    },
    requestHook(span, { method, path, headers }) {
      span.updateName(`${method} ${templateOf(path)}`);
      // `tracestate` stays that of the parent.
      if (Array.isArray(headers)) headers[traceparentIn(headers)] = headersOf(span)['traceparent'] ?? '';
    },
  });
  instrumentation.setTracerProvider({
    getTracer(library, version) {
      const tracer = provider.getTracer(library, version);
      const startSpan: otel.Tracer['startSpan'] = (name, options) => tracer.startSpan(name, options, parent);
      return { startSpan, startActiveSpan: tracer.startActiveSpan };
    },
  });
  return instrumentation;
}

/** Where the value of `traceparent` is among names and values in turn, behind all that a client may name so; else 0. */
function traceparentIn(headers: UndiciRequest['headers']): number {
  return headers.lastIndexOf('traceparent') + 1;
}

/** The path after the version, with the parameter's name in place of the id, as in endpoints.ts. */
function templateOf(path: string): string {
  const form = /\/api\/v3\.0(\/integrations\/\w+)(\/[^/?]+)?(\/\w+)?(?:\?|$)/;
  const [, collection, id, rest = ''] = form.exec(path) ?? [];
  return collection ? `${collection}${id ? `/${ID_PLACEHOLDER}` : ''}${rest}` : 'unknown';
}
