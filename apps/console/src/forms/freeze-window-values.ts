import { type FreezeWindowWrite, limits, patterns, type ResponseOf } from '@crux/contract'
import { findFreezeProblems } from '@crux/rules'
import i18n from 'i18next'
import { z } from 'zod'

type Window = NonNullable<ResponseOf<'packages.get-environment'>['freezeWindows']>[number]

const fields = z.object({
  kind: z.enum(['weekly', 'once']),
  reason: z.string().trim().min(1).max(limits.freezeReason.max),
  days: z.array(z.int()),
  from: z.string(),
  to: z.string(),
  timeZone: z.string(),
  /** As the browser's input writes them: `2026-12-24T18:00`, in its time zone. */
  startsAt: z.string(),
  endsAt: z.string(),
})
export type FreezeWindowInput = z.input<typeof fields>
type Values = z.output<typeof fields>

/** The fields of both kinds, of which only those of the chosen one are checked and sent. */
export const FreezeWindowValues = fields.superRefine((values, context) => {
  const required = values.kind === 'weekly' ? (['from', 'to'] as const) : (['startsAt', 'endsAt'] as const)
  const missing = required.filter((path) => !isTime(values, path))
  for (const path of missing) context.addIssue({ code: 'custom', path: [path], message: i18n.t('rules.required') })
  if (values.kind === 'weekly' && values.days.length === 0)
    context.addIssue({ code: 'custom', path: ['days'], message: i18n.t('freeze:form.daysRequired') })
  if (missing.length > 0) return
  const names = getFieldNames(values.kind)
  for (const { property, description } of findFreezeProblems(toWrite(values), new Date()))
    context.addIssue({ code: 'custom', path: [names[property] ?? property], message: description })
})

const isTime = (values: Values, path: 'from' | 'to' | 'startsAt' | 'endsAt') =>
  path === 'from' || path === 'to'
    ? patterns.timeOfDay.test(values[path])
    : !Number.isNaN(new Date(values[path]).getTime())

/** The server names both ends `from` and `to`, whichever kind it is. */
export const getFieldNames = (kind: Values['kind']): Record<string, string> =>
  kind === 'once' ? { from: 'startsAt', to: 'endsAt' } : {}

export const browserZone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone

/** A weekend for weekly windows; for the other kind from the next hour on, for a day. */
export function newWindow(now = new Date()): FreezeWindowInput {
  const hour = new Date(now)
  hour.setHours(now.getHours() + 1, 0, 0, 0)
  const nextDay = new Date(hour)
  nextDay.setDate(hour.getDate() + 1)
  return {
    kind: 'weekly',
    reason: '',
    days: [5],
    from: '16:00',
    to: '08:00',
    timeZone: browserZone(),
    startsAt: toInput(hour),
    endsAt: toInput(nextDay),
  }
}

export function fromWindow(window: Window): FreezeWindowInput {
  const { kind, reason } = window
  if (kind === 'once')
    return {
      ...newWindow(),
      kind,
      reason,
      startsAt: toInput(new Date(window.from)),
      endsAt: toInput(new Date(window.to)),
    }
  const { days, from, to, timeZone } = window
  return { ...newWindow(), kind, reason, days, from, to, timeZone }
}

export function toWrite({ kind, reason, days, from, to, timeZone, startsAt, endsAt }: Values): FreezeWindowWrite {
  return kind === 'once'
    ? { kind, reason, from: new Date(startsAt).toISOString(), to: new Date(endsAt).toISOString() }
    : { kind, reason, days, from, to, timeZone }
}

function toInput(date: Date): string {
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}`
}

/** The zones that the browser knows; it may not list UTC, nor a zone that was stored by another browser. */
export const timeZones = (stored: string): string[] =>
  [...new Set([...Intl.supportedValuesOf('timeZone'), 'UTC', browserZone(), stored])].sort()
