import { CruxError } from '@crux/contract'
import { getField } from '@crux/service-kit'
import { FrontendApi } from '@ory/kratos-client'
import { type PublicAddress, proxyHeaders, publicConfiguration } from './configuration.ts'

type RequestOptions = NonNullable<Parameters<FrontendApi['updateLoginFlow']>[1]>
type Answered = { status: number; data: unknown; headers: unknown }

/**
 * Data of the browser: its cookies bind the flow to it, its address counts for the limits of sign-in, its user agent
 * identifies sessions.
 */
export type Browser = { cookie: string | undefined; address: string; userAgent: string | undefined }
/** The answer of the identity service, whether success or error. */
export type FlowAnswer = { status: number; body: unknown; setCookie: string[]; location?: string | undefined }
type Submit = (flow: string, body: Record<string, unknown>, browser: Browser) => Promise<FlowAnswer>

/** Self-service flows of a browser, submitted on its behalf. */
export interface IdentityFlows {
  login: Submit
  register: Submit
  verify: Submit
  recover: Submit
  settings: Submit
  /** Ends all sessions of the user except the browser's own. */
  endOtherSessions(browser: Browser): Promise<FlowAnswer>
  /** Answers `{ logout_url }`: the address at which the browser ends its session. */
  logout(browser: Browser): Promise<FlowAnswer>
}

export function createIdentityFlows(identity: PublicAddress): IdentityFlows {
  const frontend = new FrontendApi(publicConfiguration(identity))

  const options = ({ address, cookie, userAgent }: Browser): RequestOptions => ({
    timeout: 10_000,
    maxRedirects: 0,
    proxy: false,
    validateStatus: () => true,
    headers: {
      ...proxyHeaders(identity),
      'x-forwarded-for': address,
      'user-agent': userAgent ?? '',
      ...(cookie && { cookie }),
    },
  })

  return {
    login: (flow, body, browser) =>
      toAnswer(frontend.updateLoginFlow({ flow, updateLoginFlowBody: unchecked(body) }, options(browser))),
    register: (flow, body, browser) =>
      toAnswer(
        frontend.updateRegistrationFlow({ flow, updateRegistrationFlowBody: unchecked(body) }, options(browser)),
      ),
    verify: (flow, body, browser) =>
      toAnswer(
        frontend.updateVerificationFlow({ flow, updateVerificationFlowBody: unchecked(body) }, options(browser)),
      ),
    recover: (flow, body, browser) =>
      toAnswer(frontend.updateRecoveryFlow({ flow, updateRecoveryFlowBody: unchecked(body) }, options(browser))),
    settings: (flow, body, browser) =>
      toAnswer(frontend.updateSettingsFlow({ flow, updateSettingsFlowBody: unchecked(body) }, options(browser))),
    endOtherSessions: (browser) => toAnswer(frontend.disableMyOtherSessions({}, options(browser))),
    logout: (browser) => toAnswer(frontend.createBrowserLogoutFlow({}, options(browser))),
  }
}

/** The identity service checks the body; the types of its client list the fields of every method. */
const unchecked = (body: Record<string, unknown>) => body as never

async function toAnswer(asked: Promise<Answered>): Promise<FlowAnswer> {
  try {
    const { status, data, headers } = await asked
    const [setCookie, location] = [getField(headers, 'set-cookie'), getField(headers, 'location')]
    return {
      status,
      body: data,
      setCookie: Array.isArray(setCookie) ? setCookie : [],
      location: typeof location === 'string' ? location : undefined,
    }
  } catch (cause) {
    throw new CruxError('serviceUnavailable', { property: 'kratos', cause })
  }
}
