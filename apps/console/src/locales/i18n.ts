import i18n, { type ResourceLanguage } from 'i18next'
import { initReactI18next } from 'react-i18next'
import { z } from 'zod'
import common from './en/common.json'

/** Texts lie in one file per area; all but the common ones are loaded together with the pages that use them. */
const areas = import.meta.glob<ResourceLanguage[string]>(['./en/*.json', '!./en/common.json'], {
  import: 'default',
})

export async function startTexts(): Promise<void> {
  await i18n.use(initReactI18next).init({
    lng: 'en',
    ns: ['common'],
    defaultNS: 'common',
    resources: { en: { common } },
    interpolation: { escapeValue: false },
    returnNull: false,
  })
  z.config({ customError: (issue) => ruleText(issue) })
}

/** Loads an area's texts once; pages name their areas in routes.tsx. */
export async function loadArea(area: string): Promise<void> {
  if (i18n.hasResourceBundle('en', area)) return
  const load = areas[`./en/${area}.json`]
  if (!load) throw new Error(`locales/en/${area}.json is missing`)
  i18n.addResourceBundle('en', area, await load())
}

/** The text for a broken rule; the message of a schema takes precedence. */
function ruleText(issue: {
  code?: string
  minimum?: unknown
  maximum?: unknown
  origin?: unknown
  input?: unknown
  format?: unknown
}): string | undefined {
  const text = issue.origin === 'string'
  if (issue.code === 'invalid_type' && (issue.input === undefined || issue.input === null))
    return i18n.t('rules.required')
  if (issue.code === 'too_small' && text)
    return issue.input === '' ? i18n.t('rules.required') : i18n.t('rules.tooShort', { count: Number(issue.minimum) })
  if (issue.code === 'too_big' && text) return i18n.t('rules.tooLong', { count: Number(issue.maximum) })
  if (issue.code === 'too_small') return i18n.t('rules.tooSmall', { minimum: Number(issue.minimum) })
  if (issue.code === 'too_big') return i18n.t('rules.tooBig', { maximum: Number(issue.maximum) })
  if (issue.code === 'invalid_format' && issue.input === '') return i18n.t('rules.required')
  if (issue.code === 'invalid_format' && issue.format === 'email') return i18n.t('rules.email')
  if (issue.code === 'invalid_type') return i18n.t('rules.invalid')
  return undefined
}
