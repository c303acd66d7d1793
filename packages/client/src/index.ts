export { ApiError, type ApiErrorBody } from './api-error.ts'
export {
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  getAddress,
  type HttpResponse,
  type Input,
  queryKey,
} from './client.ts'
export {
  createLive,
  type LinkStatus,
  type Live,
  type LiveChannel,
  type LiveFailure,
  type LiveOptions,
  type LiveParams,
  type Received,
  type SubscriptionStatus,
} from './live.ts'
export type { Socket } from './live-socket.ts'
