import type { ResponseOf } from '@crux/contract'
import type { TFunction } from 'i18next'
import { queryKey } from '../api/client.ts'
import { absoluteTime } from '../components/relative-time.ts'

export type Window = NonNullable<ResponseOf<'packages.get-environment'>['freezeWindows']>[number]
export type EnvironmentParams = { teamSlug: string; packageId: string; environmentId: string }

/** What an edit of a window makes stale. */
export const freezeQueries = [
  queryKey('packages.get-environment'),
  queryKey('packages.board'),
  queryKey('packages.preview-promotion'),
  queryKey('deployments.preview'),
]

export const isoDays = [1, 2, 3, 4, 5, 6, 7] as const

/** The short name of a day of the week, where 1 is Monday. */
export const dayName = (day: number, weekday: 'short' | 'long' = 'short'): string =>
  // The first of January 2024 was a Monday.
  new Intl.DateTimeFormat('en', { weekday, timeZone: 'UTC' }).format(Date.UTC(2024, 0, day))

/** yyyy-MM-dd HH:mm in the reader's time zone. */
export const toMinute = (time: string | Date): string => absoluteTime(new Date(time).getTime()).slice(0, 16)

/** Whether a window freezes now or will, as the server judges it before it lets a user move or delete the environment. */
export const isUnfinished = (window: Window, now: number): boolean =>
  window.kind === 'weekly' || !(Date.parse(window.to) <= now)

/** When a window freezes, in words. */
export function describeTimes(window: Window, t: TFunction<'freeze'>): string {
  if (window.kind === 'once') return t('once', { from: toMinute(window.from), to: toMinute(window.to) })
  const { from, to, timeZone } = window
  const days = isoDays.every((day) => window.days.includes(day))
    ? t('everyDay')
    : window.days.map((day) => dayName(day)).join(', ')
  return t(to <= from ? 'weeklyNextDay' : 'weekly', { days, from, to, timeZone })
}
