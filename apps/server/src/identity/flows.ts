import { CruxError } from '@crux/contract'
import { Configuration, FrontendApi } from '@ory/kratos-client'

type RequestOptions = NonNullable<Parameters<FrontendApi['updateLoginFlow']>[1]>
type Answered = { status: number; data: unknown; headers: unknown }

/** What the browser brought: its cookies make the flow its own, its address counts for the limits of sign-in. */
export type Browser = { cookie: string | undefined; address: string }
/** What the identity service said, whatever it was. */
export type FlowAnswer = { status: number; body: unknown; setCookie: string[]; location?: string | undefined }

/** Self-service flows of a browser, submitted in its name. */
export interface IdentityFlows {
  login(flow: string, body: Record<string, unknown>, browser: Browser): Promise<FlowAnswer>
  register(flow: string, body: Record<string, unknown>, browser: Browser): Promise<FlowAnswer>
  verify(flow: string, body: Record<string, unknown>, browser: Browser): Promise<FlowAnswer>
  /** Answers `{ logout_url }`: the address at which the browser ends its session. */
  logout(browser: Browser): Promise<FlowAnswer>
}

export function createIdentityFlows(publicUrl: string): IdentityFlows {
  const frontend = new FrontendApi(new Configuration({ basePath: publicUrl }))

  const options = ({ address, cookie }: Browser): RequestOptions => ({
    timeout: 10_000,
    maxRedirects: 0,
    proxy: false,
    validateStatus: () => true,
    headers: { 'x-forwarded-for': address, ...(cookie && { cookie }) },
  })

  return {
    login: (flow, body, browser) =>
      answerOf(frontend.updateLoginFlow({ flow, updateLoginFlowBody: body as never }, options(browser))),
    register: (flow, body, browser) =>
      answerOf(frontend.updateRegistrationFlow({ flow, updateRegistrationFlowBody: body as never }, options(browser))),
    verify: (flow, body, browser) =>
      answerOf(frontend.updateVerificationFlow({ flow, updateVerificationFlowBody: body as never }, options(browser))),
    logout: (browser) => answerOf(frontend.createBrowserLogoutFlow({}, options(browser))),
  }
}

async function answerOf(asked: Promise<Answered>): Promise<FlowAnswer> {
  try {
    const { status, data, headers } = await asked
    const { 'set-cookie': setCookie } = headers as Record<string, unknown>
    return { status, body: data, setCookie: Array.isArray(setCookie) ? setCookie : [] }
  } catch (cause) {
    throw new CruxError('serviceUnavailable', { property: 'kratos', cause })
  }
}
