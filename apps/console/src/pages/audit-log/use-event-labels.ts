import { useTranslation } from 'react-i18next'
import { type Entry, getDetail, getOperation, getSentenceKeys, plainOperation } from './entry.ts'

/** A placeholder for the subject in a sentence, which a link replaces. */
export const subjectMark = '\u0000'

/**
 * The text of an entry: the sentence of its operation with its subject, else the name of the operation.
 *
 * @returns the sentence; `shown` replaces a subject whose name is known
 */
export function useEventLabels(): (entry: Pick<Entry, 'event' | 'subject' | 'data'>, shown?: string) => string {
  const { t, i18n } = useTranslation('audit')
  return ({ event, subject, data }, shown) => {
    const operation = getOperation(event)
    const key = getSentenceKeys(operation)
      .map((name) => `audit:event.${name}`)
      .find((candidate) => i18n.exists(candidate))
    if (!key) return subject ? `${plainOperation(operation)} ${shown ?? subject.name}` : plainOperation(operation)
    const text = i18n.t(key as 'audit:event.projects_update', {
      subject: subject ? (shown ?? subject.name) : subjectMark,
    })
    const detail = getDetail(data)
    const known = subject ? text : text.replace(subjectMark, detail ?? t('something'))
    // A thing that was just created is known by the name in the request.
    return detail && detail !== subject?.name && !known.includes(detail)
      ? t('withDetail', { text: known, detail })
      : known
  }
}
