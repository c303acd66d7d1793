-- Should two be handed at one place just now: the agent has both and begins with the first; the other is handed again after it.
UPDATE "crux"."release" AS "r" SET "handed_at" = NULL
WHERE "r"."status" = 'in-progress' AND "r"."handed_at" IS NOT NULL AND EXISTS (
  SELECT FROM "crux"."release" AS "o"
  WHERE "o"."node_id" = "r"."node_id" AND "o"."prefix" = "r"."prefix" AND "o"."status" = 'in-progress'
    AND ("o"."handed_at", "o"."id") < ("r"."handed_at", "r"."id"));
--> statement-breakpoint
CREATE UNIQUE INDEX "release_one_handed" ON "crux"."release" USING btree ("node_id","prefix") WHERE status = 'in-progress' and handed_at is not null;
