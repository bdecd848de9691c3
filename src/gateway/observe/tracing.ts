/*
 * OpenTelemetry, imported only when a collector is named: the packages cost memory and start-up time.
 *
 * No library is patched by instrumentation. The span of an operation begins with the request. For each REST call, a child
 * span is created when the call ends, from the record that logs and metrics use too.
 */
import { once } from 'node:events';
import { type Context, ROOT_CONTEXT, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, BatchSpanProcessor, ParentBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import {
  type OperationOutcome,
  type OperationTrace,
  type TraceParent,
  type Tracing,
  writeTraceParent,
} from './trace.ts';

export interface TracingOptions {
  /** The collector's base address, for example http://127.0.0.1:4318; traces go to `/v1/traces` below it. */
  endpoint: URL;
  serviceName: string;
}

/** How long sending may take, retries included, in milliseconds. It can delay the end of the process. */
const EXPORT_MS = 3_000;

/** Traces over OTLP/HTTP. A trace with a `traceparent` is sampled as its client decided; any other is always sampled. */
export function startTracing({ endpoint, serviceName }: TracingOptions): Tracing {
  const url = `${endpoint.href.replace(/\/+$/, '')}/v1/traces`;
  const exporter = new OTLPTraceExporter({ url, timeoutMillis: EXPORT_MS });
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes({ 'service.name': serviceName })),
    sampler: new ParentBasedSampler({ root: new AlwaysOnSampler() }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const tracer = provider.getTracer('referral-gateway');
  return {
    begin: (parent) => beginOperation(tracer, parent),
    async stop(hurry) {
      if (!hurry.aborted) await Promise.race([provider.shutdown(), once(hurry, 'abort')]);
    },
  };
}

function beginOperation(tracer: Tracer, parent: TraceParent | undefined): OperationTrace {
  const span = tracer.startSpan('GraphQL operation', { kind: SpanKind.SERVER }, contextOf(parent));
  const within = trace.setSpan(ROOT_CONTEXT, span);
  const { traceId, spanId, traceFlags } = span.spanContext();
  return {
    traceparent: writeTraceParent({ traceId, spanId, flags: traceFlags.toString(16).padStart(2, '0') }),
    call({ method, template, status, ms, attempts, shared, cached, error }) {
      const end = Date.now();
      const attributes = {
        'http.request.method': method,
        'url.template': template,
        'http.request.resend_count': Math.max(0, attempts - 1),
        'gateway.shared': shared,
        'gateway.cached': cached,
        ...(status === undefined ? {} : { 'http.response.status_code': status }),
        ...(error === undefined ? {} : { 'error.type': error }),
      };
      const options = { kind: SpanKind.CLIENT, startTime: end - ms, attributes };
      const call = tracer.startSpan(`${method} ${template}`, options, within);
      if (error !== undefined) call.setStatus({ code: SpanStatusCode.ERROR });
      call.end(end);
    },
    end({ name, type, codes }: OperationOutcome) {
      if (type) span.updateName(name ? `${type} ${name}` : type).setAttribute('graphql.operation.type', type);
      if (name) span.setAttribute('graphql.operation.name', name);
      if (codes[0]) span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', codes[0]);
      span.end();
    },
  };
}

function contextOf(parent: TraceParent | undefined): Context {
  if (!parent) return ROOT_CONTEXT;
  const { traceId, spanId, flags } = parent;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & 1,
    isRemote: true,
  });
}
