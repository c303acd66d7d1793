import { type NotificationEvent, notificationEvents } from '@crux/contract'
import { useId } from 'react'
import { useController } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { Button } from '../components/Button.tsx'
import { Checkbox } from '../components/Checkbox.tsx'
import { Field } from '../components/Field.tsx'
import { notificationEventGroups } from './notification-choices.ts'
import type { NotificationFormApi } from './notification-values.ts'

/** Which events are sent, each with what it means. */
export function NotificationEventsField({ form }: { form: NotificationFormApi }) {
  const { t } = useTranslation('notifications')
  const id = useId()
  const { field } = useController({ control: form.control, name: 'enabledEvents' })
  const chosen = new Set<NotificationEvent>(field.value)
  const set = (event: NotificationEvent, on: boolean) =>
    field.onChange(notificationEvents.filter((each) => (each === event ? on : chosen.has(each))))
  const isAll = chosen.size === notificationEvents.length
  return (
    <Field
      label={t('events.title')}
      group
      help={chosen.size === 0 ? t('events.none') : undefined}
      trailing={
        <Button size="sm" variant="bare" onClick={() => field.onChange(isAll ? [] : [...notificationEvents])}>
          {t(isAll ? 'events.chooseNone' : 'events.chooseAll')}
        </Button>
      }
    >
      <div className="grid gap-3 rounded-md border border-line px-3 py-2.5">
        {notificationEventGroups.map(({ group, events }) => (
          <fieldset key={group} className="grid gap-1.5">
            <legend className="mb-1 text-small text-ink-3">{t(`group.${group}`)}</legend>
            {events.map((event) => (
              <div key={event} className="flex gap-2">
                <span className="flex h-5 items-center">
                  <Checkbox
                    id={`${id}-${event}`}
                    checked={chosen.has(event)}
                    onChange={(on) => set(event, on)}
                    describedBy={`${id}-${event}-help`}
                  />
                </span>
                <div className="min-w-0">
                  <label htmlFor={`${id}-${event}`}>{t(`event.${event}`)}</label>
                  <p id={`${id}-${event}-help`} className="text-small text-ink-2">
                    {t(`eventHelp.${event}`)}
                  </p>
                </div>
              </div>
            ))}
          </fieldset>
        ))}
      </div>
    </Field>
  )
}
