import { z } from 'zod'
import { icons } from './enums.ts'
import { limits, patterns } from './limits.ts'

/** Basic types of the API. Dates are ISO 8601 strings in UTC. */
export const Id = z.uuid()
/** The server may answer with a Date, which the serialiser writes as ISO 8601; callers get text. */
export const Timestamp: z.ZodType<string, string | Date> = z.iso.datetime({ offset: true })
export const Name = z.string().trim().min(limits.name.min).max(limits.name.max)
export const Description = z.string().max(limits.description.max).nullish()
export const Icon = z.enum(icons).nullish()
/** The name of a template's file without its ending. */
export const TemplateId = z
  .string()
  .min(1)
  .max(limits.containerName.max)
  .regex(patterns.teamSlug, 'Use lower-case letters, digits and single dashes')
export const Prefix = z
  .string()
  .trim()
  .min(1)
  .max(limits.containerName.max)
  .regex(patterns.dnsLabel, 'Use lower-case letters, digits and dashes')
export const TeamSlug = z
  .string()
  .min(limits.teamSlug.min)
  .max(limits.teamSlug.max)
  .regex(patterns.teamSlug, 'Use lower-case letters, digits and single dashes')
export const ContainerName = z
  .string()
  .min(1)
  .max(255)
  .refine((value) => !value.startsWith('-'), 'A name does not start with a dash')
export const Port = z.int().min(limits.port.min).max(limits.port.max)

/** The users who created and last changed a record, and when. */
export const Audit = z.object({
  createdAt: Timestamp,
  createdBy: z.string(),
  updatedAt: Timestamp,
  updatedBy: z.string(),
})
export const BasicUser = z.object({ id: z.string(), name: z.string() })
export const basic = <T extends readonly [string, ...string[]]>(types: T) =>
  z.object({ id: Id, name: z.string(), type: z.enum(types) })

/** Query numbers arrive as text. Both are required where a list is paginated, and `take` above 1,000 is refused. */
export const Skip = z.coerce.number().int().min(0)
export const Take = z.coerce.number().int().min(1).max(limits.page.max)
export const Page = z.object({ skip: Skip, take: Take })
export const paginated = <T extends z.ZodType>(item: T) => z.object({ items: z.array(item), total: z.int() })

export type Audit = z.output<typeof Audit>
