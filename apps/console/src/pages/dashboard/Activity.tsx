import { limits, type ResponseOf } from '@crux/contract'
import { formatDuration } from '@crux/rules'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Box } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { DayBars } from '../../components/DayBars.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { StateMark } from '../../components/State.tsx'
import { statusStyles } from '../../components/status-styles.ts'
import { activityQuery } from './dashboard-queries.ts'
import { toTrend } from './trend.ts'

type ActivityData = ResponseOf<'dashboard.activity'>

/** The deployments of the last 30 days in the browser's time zone, as bars or as a table, and their median time. */
export function Activity({ teamSlug }: { teamSlug: string }) {
  const { t } = useTranslation('dashboard')
  const [asTable, setAsTable] = useState(false)
  const query = useQuery({ ...activityQuery(teamSlug), refetchInterval: 60_000 })
  return (
    <QueryView query={query} skeleton={<SkeletonRows rows={3} />}>
      {(activity) => (
        <Box
          title={t('activity.title', { count: activity.days.length })}
          label={t('activity.title', { count: activity.days.length })}
          actions={
            <Button size="sm" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
              {t('activity.asTable')}
            </Button>
          }
        >
          <div className="flex flex-wrap items-stretch gap-x-8 gap-y-3 px-3.5 pt-3 pb-1.5">
            <Figures activity={activity} />
            <div className="min-w-0 flex-1 basis-80 max-md:basis-full">
              {asTable ? <DayTable days={activity.days} /> : <Plot days={activity.days} />}
            </div>
          </div>
        </Box>
      )}
    </QueryView>
  )
}

const getSum = (days: ActivityData['days'], part: 'successful' | 'failed') =>
  days.reduce((sum, day) => sum + day[part], 0)

/** The numbers are the legend of the bars as well. */
function Figures({ activity }: { activity: ActivityData }) {
  const { t, i18n } = useTranslation(['dashboard', 'common'])
  const number = new Intl.NumberFormat(i18n.language)
  const trend = toTrend(activity)
  const count = activity.days.length
  return (
    <dl className="flex flex-wrap gap-x-8 gap-y-3 max-md:gap-x-5">
      {(['successful', 'failed'] as const).map((part) => (
        <div key={part}>
          <dt className="text-small">
            <StateMark appearance={statusStyles.deployment[part]} label={t(`common:state.deployment.${part}`)} />
          </dt>
          <dd className="mt-0.5 text-lead font-semibold tabular-nums">{number.format(getSum(activity.days, part))}</dd>
        </div>
      ))}
      <div className="max-w-56">
        <dt className="text-small text-ink-2">{t('activity.median')}</dt>
        <dd className="mt-0.5 text-lead font-semibold tabular-nums">
          {activity.medianMs === null ? '-' : formatDuration(activity.medianMs)}
        </dd>
        {activity.medianLimited && (
          <dd className="text-small text-ink-2">
            {t('activity.limited', { limit: number.format(limits.activityMedian) })}
          </dd>
        )}
        {trend && <dd className="text-small text-ink-2">{t(`activity.${trend.kind}`, { ...trend, count })}</dd>}
      </div>
    </dl>
  )
}

function Plot({ days }: Pick<ActivityData, 'days'>) {
  const { t } = useTranslation('dashboard')
  const format = useDayFormat()
  if (days.every(({ successful, failed }) => successful + failed === 0))
    return <p className="py-4 text-ink-2">{t('activity.none', { count: days.length })}</p>
  return (
    <DayBars
      label={t('activity.perDay')}
      tone="running"
      bars={days.map(({ day, successful, failed }) => ({ day, good: successful, bad: failed }))}
      describe={({ day, good, bad }) => t('activity.day', { day: format(day), successful: good, failed: bad })}
    />
  )
}

/** The newest day first. */
function DayTable({ days }: Pick<ActivityData, 'days'>) {
  const { t } = useTranslation(['dashboard', 'common'])
  const format = useDayFormat()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable with the keyboard
    <div className="max-h-60 overflow-auto" tabIndex={0}>
      <table aria-label={t('activity.perDay')} className="w-full border-collapse text-left tabular-nums">
        <thead className="text-small text-ink-2">
          <tr>
            <th className="py-1 font-normal">{t('activity.date')}</th>
            <th className="py-1 text-right font-normal">{t('common:state.deployment.successful')}</th>
            <th className="py-1 text-right font-normal">{t('common:state.deployment.failed')}</th>
          </tr>
        </thead>
        <tbody>
          {[...days].reverse().map(({ day, successful, failed }) => (
            <tr key={day} className="border-t border-line">
              <td className="py-1">{format(day)}</td>
              <td className="py-1 text-right">{successful}</td>
              <td className="py-1 text-right">{failed}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** A day is a date without a time, so that it is read and written in UTC. */
function useDayFormat() {
  const { i18n } = useTranslation()
  const options = { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' } as const
  const format = new Intl.DateTimeFormat(i18n.language, options)
  return (day: string) => format.format(new Date(`${day}T00:00:00Z`))
}
