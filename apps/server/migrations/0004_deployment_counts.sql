CREATE TABLE "crux"."deployment_count" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"team_id" uuid NOT NULL,
	"status" text NOT NULL,
	"difference" integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX "deployment_count_team" ON "crux"."deployment_count" USING btree ("team_id");--> statement-breakpoint
CREATE FUNCTION "crux"."count_deployments"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO "crux"."deployment_count" ("team_id", "status", "difference")
    SELECT "team_id", "status", count(*) FROM "came" GROUP BY 1, 2;
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO "crux"."deployment_count" ("team_id", "status", "difference")
    SELECT "team_id", "status", -count(*) FROM "gone" GROUP BY 1, 2;
  ELSE
    INSERT INTO "crux"."deployment_count" ("team_id", "status", "difference")
    SELECT "team_id", "status", sum("n") FROM (
      SELECT "team_id", "status", 1 AS "n" FROM "came" UNION ALL SELECT "team_id", "status", -1 FROM "gone") AS "all"
    GROUP BY 1, 2 HAVING sum("n") <> 0;
  END IF;
  RETURN NULL;
END
$$;--> statement-breakpoint
CREATE TRIGGER "deployment_counted_in" AFTER INSERT ON "crux"."deployment" REFERENCING NEW TABLE AS "came" FOR EACH STATEMENT EXECUTE FUNCTION "crux"."count_deployments"();--> statement-breakpoint
CREATE TRIGGER "deployment_counted_out" AFTER DELETE ON "crux"."deployment" REFERENCING OLD TABLE AS "gone" FOR EACH STATEMENT EXECUTE FUNCTION "crux"."count_deployments"();--> statement-breakpoint
CREATE TRIGGER "deployment_counted_anew" AFTER UPDATE ON "crux"."deployment" REFERENCING OLD TABLE AS "gone" NEW TABLE AS "came" FOR EACH STATEMENT EXECUTE FUNCTION "crux"."count_deployments"();--> statement-breakpoint
INSERT INTO "crux"."deployment_count" ("team_id", "status", "difference") SELECT "team_id", "status", count(*) FROM "crux"."deployment" GROUP BY 1, 2;
