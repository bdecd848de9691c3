/*
 * OpenTelemetry, imported only when a collector is named: the packages cost memory and start-up time.
 *
 * No library is patched by instrumentation. The span of an operation begins with the request. Each REST call has a child span
 * whose id is sent to the REST service, so that its spans are children of the call.
 *
 * The exporter, the sampler, the resource and the limits are configured by the SDK from the standard `OTEL_*` variables: the
 * one part of the environment that the configuration does not read.
 */
import { once } from 'node:events';
import {
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { type CallRecord, type TraceHeaders, type TraceParent, writeTraceParent } from '../rest/call-context.ts';

/** `service.name`, unless the environment has another one. */
const SERVICE_NAME = 'referral-gateway';

/** Traces over OTLP/HTTP. By default a trace is sampled as its client decided, and always without a client's trace. */
export function startTracing() {
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': SERVICE_NAME }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  const tracer = provider.getTracer('referral-gateway');
  return {
    /** Begins the trace of an operation, as part of the client's trace if there is one. */
    begin: (parent: TraceParent | undefined) => beginOperation(tracer, parent),
    /** Sends the remaining spans; gives up when `forced` aborts. */
    async stop(forced: AbortSignal): Promise<void> {
      if (!forced.aborted) await Promise.race([provider.shutdown(), once(forced, 'abort')]);
    },
  };
}

export type Tracing = ReturnType<typeof startTracing>;

/** The trace of one operation. */
export type OperationTrace = ReturnType<typeof beginOperation>;

/** What the span of an operation shows of it. */
interface EndedOperation {
  name: string | undefined;
  type: string | undefined;
  codes: readonly string[];
}

function beginOperation(tracer: Tracer, parent: TraceParent | undefined) {
  const span = tracer.startSpan('GraphQL operation', { kind: SpanKind.SERVER }, contextOf(parent));
  const within = trace.setSpan(ROOT_CONTEXT, span);
  return {
    traceId: span.spanContext().traceId,
    /** Begins the span of a REST call of the operation. */
    beginCall: () => beginCall(tracer, within),
    end({ name, type, codes }: EndedOperation): void {
      if (type) span.updateName(name ? `${type} ${name}` : type).setAttribute('graphql.operation.type', type);
      if (name) span.setAttribute('graphql.operation.name', name);
      if (codes[0]) span.setStatus({ code: SpanStatusCode.ERROR }).setAttribute('error.type', codes[0]);
      span.end();
    },
  };
}

function beginCall(tracer: Tracer, within: Context) {
  const span = tracer.startSpan('REST call', { kind: SpanKind.CLIENT }, within);
  return {
    /** The headers of the call, so that the REST service continues this span. */
    headers: headersOf(span),
    end({ method, template, status, attempts, error }: CallRecord): void {
      span.updateName(`${method} ${template}`).setAttributes({
        'http.request.method': method,
        'url.template': template,
        'http.request.resend_count': Math.max(0, attempts - 1),
        ...(status === undefined ? {} : { 'http.response.status_code': status }),
        ...(error === undefined ? {} : { 'error.type': error }),
      });
      if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

function headersOf(span: Span): TraceHeaders {
  const { traceId, spanId, traceFlags, traceState } = span.spanContext();
  const flags = traceFlags.toString(16).padStart(2, '0');
  return writeTraceParent({ traceId, spanId, flags, state: traceState?.serialize() });
}

function contextOf(parent: TraceParent | undefined): Context {
  if (!parent) return ROOT_CONTEXT;
  const { traceId, spanId, flags, state } = parent;
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & 1,
    isRemote: true,
    ...(state === undefined ? {} : { traceState: createTraceState(state) }),
  });
}
