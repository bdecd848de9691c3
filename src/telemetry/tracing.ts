/*
 * OpenTelemetry, imported only when a collector is named: the packages cost memory and start-up time. The exporter, the
 * sampler, the resource and the limits are configured by the SDK from the standard `OTEL_*` variables: the one part of the
 * environment that the configuration does not read.
 */
import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import * as otel from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { UndiciInstrumentation, type UndiciRequest } from '@opentelemetry/instrumentation-undici';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { ID_PLACEHOLDER } from '../rest/endpoints.ts';
import type { Trace } from './observe.ts';

/** `service.name`, unless the environment has another one. */
const SERVICE_NAME = 'referral-gateway';

const propagator = new W3CTraceContextPropagator();

/**
 * Traces over OTLP/HTTP. By default a trace is sampled as its client decided, and always without a client's trace.
 * @param restUrl The REST service. Requests elsewhere have no spans.
 */
export function startTracing(restUrl: string) {
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': SERVICE_NAME }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  const tracer = provider.getTracer(SERVICE_NAME);
  const restCalls = traceRestCalls(provider, new URL(restUrl).origin);
  return {
    /** Begins the span of a request, as part of the client's trace if there is one. */
    begin(headers: IncomingHttpHeaders): Trace {
      const parent = propagator.extract(otel.ROOT_CONTEXT, headers, otel.defaultTextMapGetter);
      const span = tracer.startSpan('GraphQL operation', { kind: otel.SpanKind.SERVER }, parent);
      return {
        traceId: span.spanContext().traceId,
        headers: headersOf(span).flat(),
        end({ name, type, codes: [error] }) {
          if (type) span.updateName(name ? `${type} ${name}` : type).setAttribute('graphql.operation.type', type);
          if (name) span.setAttribute('graphql.operation.name', name);
          if (error) span.setStatus({ code: otel.SpanStatusCode.ERROR }).setAttribute('error.type', error);
          span.end();
        },
      };
    },
    /** Sends the remaining spans; gives up when `forced` aborts. */
    async stop(forced: AbortSignal): Promise<void> {
      restCalls.disable();
      if (!forced.aborted) await Promise.race([provider.shutdown(), once(forced, 'abort')]);
    },
  };
}

export type Tracing = ReturnType<typeof startTracing>;

/** `traceparent` and perhaps `tracestate` of what a span causes. */
function headersOf(span: otel.Span): [name: string, value: string][] {
  const headers: Record<string, string> = {};
  propagator.inject(otel.trace.setSpan(otel.ROOT_CONTEXT, span), headers, otel.defaultTextMapSetter);
  return Object.entries(headers);
}

/** Where the value of a header is among names and values in turn; 0 when it is absent. */
function indexOf(headers: UndiciRequest['headers'], name: string): number {
  return [...headers].findIndex((header, index) => index % 2 === 0 && header === name) + 1;
}

/**
 * A span for each request to the REST service, so for each attempt of a call. undici may create a request when another one
 * frees a connection, in the asynchronous context of that one. So its parent is not the active context, but the span in its
 * own `traceparent`, which is then replaced by the new span.
 */
function traceRestCalls(provider: otel.TracerProvider, restOrigin: string): UndiciInstrumentation {
  let parent = otel.ROOT_CONTEXT;
  const manager: otel.ContextManager = {
    active: () => parent,
    with: (_context, run, self, ...args) => run.call(self, ...args),
    bind: (_context, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  otel.context.setGlobalContextManager(manager);
  const instrumentation = new UndiciInstrumentation({
    ignoreRequestHook: ({ origin }) => origin !== restOrigin,
    startSpanHook({ path, headers }) {
      const get = (_: unknown, name: string) => (indexOf(headers, name) ? headers[indexOf(headers, name)] : undefined);
      parent = propagator.extract(otel.ROOT_CONTEXT, headers, { keys: () => [], get });
      // URLs contain players' ids.
      return { 'url.full': undefined, 'url.path': undefined, 'url.query': undefined, 'url.template': templateOf(path) };
    },
    requestHook(span, { method, path, headers }) {
      span.updateName(`${method} ${templateOf(path)}`);
      for (const [name, value] of headersOf(span)) {
        if (Array.isArray(headers) && indexOf(headers, name)) headers[indexOf(headers, name)] = value;
      }
    },
  });
  instrumentation.setTracerProvider(provider);
  return instrumentation;
}

/** The path after the version, with the parameter's name in place of the id, as in endpoints.ts. */
function templateOf(path: string): string {
  const form = /\/api\/v3\.0(\/integrations\/\w+)(\/[^/?]+)?(\/\w+)?(?:\?|$)/;
  const [, collection, id, rest = ''] = form.exec(path) ?? [];
  return collection ? `${collection}${id ? `/${ID_PLACEHOLDER}` : ''}${rest}` : 'unknown';
}
