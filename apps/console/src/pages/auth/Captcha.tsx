import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import type { Flow } from '../../api/identity.ts'
import { FormBanner } from '../../forms/FormShell.tsx'
import { useTheme } from '../../stores/theme.ts'

/** What Turnstile, hCaptcha and reCAPTCHA have in common. */
type Widget = {
  render: (container: HTMLElement, options: Record<string, unknown>) => string | number
  reset: (id: string | number) => void
  ready?: (run: () => void) => void
}

/** Holds the captcha token until it is sent, because it works once. */
export function useCaptcha() {
  const held = useRef<{ token: string | undefined; reset: () => void }>({ token: undefined, reset: () => {} })
  return useRef({
    held,
    /** The token for one submit; the captcha then restarts. */
    take(): { captcha?: string } {
      const { token, reset } = held.current
      held.current.token = undefined
      if (token) reset()
      return token ? { captcha: token } : {}
    },
  }).current
}

type Captcha = ReturnType<typeof useCaptcha>

/** The captcha, if the flow requires one (its nodes of the group `captcha`). */
export function CaptchaBox({ captcha, flow }: { captcha: Captcha; flow: Flow | undefined }) {
  const { t } = useTranslation('auth')
  const container = useRef<HTMLDivElement>(null)
  const [failed, setFailed] = useState(false)
  const theme = useTheme()
  const asked = flow && getParts(flow)
  const { src, sitekey } = asked ?? {}

  useEffect(() => {
    const into = container.current
    if (!src || !sitekey || !into) return
    let gone = false
    const show = (widget: Widget) => {
      if (gone) return
      const id = widget.render(into, {
        sitekey,
        theme: document.documentElement.dataset.theme === 'dark' ? 'dark' : 'light',
        callback: (token: string) => {
          captcha.held.current.token = token
        },
        'expired-callback': () => {
          captcha.held.current.token = undefined
        },
        'error-callback': () => setFailed(true),
      })
      captcha.held.current.reset = () => widget.reset(id)
    }
    setFailed(false)
    load(src).then(show, () => setFailed(true))
    return () => {
      gone = true
      captcha.held.current = { token: undefined, reset: () => {} }
      into.replaceChildren()
    }
  }, [src, sitekey, theme, captcha])

  if (!asked) return null
  return (
    <>
      {failed && <FormBanner>{t('captcha.failed')}</FormBanner>}
      <fieldset aria-label={t('captcha.label')} className="min-w-0">
        <div ref={container} className="min-h-16 overflow-x-auto" />
      </fieldset>
    </>
  )
}

function getParts(flow: Flow): { src: string; sitekey: string } | undefined {
  const attributes = flow.ui.nodes.flatMap((node) => (node.group === 'captcha' ? [node.attributes] : []))
  const src = attributes.flatMap((one) => ('src' in one && one.node_type === 'script' ? [one.src] : []))[0]
  const sitekey = attributes.flatMap((one) => ('data' in one && one.data?.sitekey ? [one.data.sitekey] : []))[0]
  return src && sitekey ? { src, sitekey } : undefined
}

const loading = new Map<string, Promise<Widget>>()

/** Loads the script once per page; a failed load is repeated with the next form. */
function load(src: string): Promise<Widget> {
  const known = loading.get(src)
  if (known) return known
  const widget = new Promise<Widget>((resolve, reject) => {
    const address = new URL(src)
    address.searchParams.set('render', 'explicit')
    const script = document.createElement('script')
    script.src = address.href
    script.async = true
    script.onerror = () => reject(new Error('the captcha cannot be loaded'))
    script.onload = () => {
      const { turnstile, hcaptcha, grecaptcha } = window as {
        [name in 'turnstile' | 'hcaptcha' | 'grecaptcha']?: Widget
      }
      const found = turnstile ?? hcaptcha ?? grecaptcha
      if (!found) reject(new Error('the captcha offers nothing known'))
      // Google's script loads another one first; Turnstile's own `ready` must not be used here.
      else if (found === grecaptcha && found.ready) found.ready(() => resolve(found))
      else resolve(found)
    }
    document.head.append(script)
  })
  loading.set(src, widget)
  widget.catch(() => loading.delete(src))
  return widget
}
