/*
 * OpenTelemetry, imported only when a collector is named: the packages cost memory and start-up time.
 *
 * The exporter, the sampler, the resource and the limits are configured by the SDK from the standard `OTEL_*` variables: the
 * one part of the environment that the configuration does not read.
 */
import { once } from 'node:events';
import type { IncomingHttpHeaders } from 'node:http';
import {
  type Context,
  type ContextManager,
  context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  type TextMapSetter,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { UndiciInstrumentation, type UndiciRequest } from '@opentelemetry/instrumentation-undici';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { ID_PLACEHOLDER } from '../rest/endpoints.ts';
import type { Trace } from './trace-context.ts';

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
      const parent = propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
      const span = tracer.startSpan('GraphQL operation', { kind: SpanKind.SERVER }, parent);
      const sent: Record<string, string> = {};
      propagator.inject(trace.setSpan(ROOT_CONTEXT, span), sent, defaultTextMapSetter);
      return {
        traceId: span.spanContext().traceId,
        headers: Object.entries(sent).flat(),
        end({ name, type, codes: [error] }) {
          if (type) span.updateName(name ? `${type} ${name}` : type).setAttribute('graphql.operation.type', type);
          if (name) span.setAttribute('graphql.operation.name', name);
          if (error) span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', error);
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

/** Names and values of a request in turn. */
type Headers = UndiciRequest['headers'];

/** Where the value of a header is, or -1. */
function indexOf(headers: Headers, name: string): number {
  return typeof headers === 'string' ? -1 : headers.findIndex((_, index) => index % 2 && headers[index - 1] === name);
}

const GETTER: TextMapGetter<Headers> = { keys: () => [], get: (headers, name) => headers[indexOf(headers, name)] };
const SETTER: TextMapSetter<Headers> = {
  set(headers, name, value) {
    const index = indexOf(headers, name);
    if (typeof headers !== 'string' && index > 0) headers[index] = value;
  },
};

/**
 * A span for each request to the REST service, so for each attempt of a call. undici may create a request when another one
 * frees a connection, in the asynchronous context of that one. So its parent is not the active context, but the span in its
 * own `traceparent`, which is then replaced by the new span.
 */
function traceRestCalls(provider: TracerProvider, restOrigin: string): UndiciInstrumentation {
  let parent: Context = ROOT_CONTEXT;
  const manager: ContextManager = {
    active: () => parent,
    with: (_context, run, self, ...args) => run.call(self, ...args),
    bind: (_context, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  context.setGlobalContextManager(manager);
  const instrumentation = new UndiciInstrumentation({
    ignoreRequestHook: ({ origin }) => origin !== restOrigin,
    startSpanHook({ path, headers }) {
      parent = propagator.extract(ROOT_CONTEXT, headers, GETTER);
      // URLs contain players' ids.
      return { 'url.full': undefined, 'url.path': undefined, 'url.query': undefined, 'url.template': templateOf(path) };
    },
    requestHook(span, { method, path, headers }) {
      span.updateName(`${method} ${templateOf(path)}`);
      propagator.inject(trace.setSpan(ROOT_CONTEXT, span), headers, SETTER);
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
