// The tasks of a client in Java, unmodified: java -cp JARS Stock.java BASE_URL KEY_FILE
import com.google.api.client.googleapis.auth.oauth2.GoogleCredential;
import com.google.api.client.googleapis.batch.BatchCallback;
import com.google.api.client.googleapis.batch.BatchRequest;
import com.google.api.client.googleapis.media.MediaHttpUploader;
import com.google.api.client.http.*;
import com.google.api.client.http.javanet.NetHttpTransport;
import com.google.api.client.http.json.JsonHttpContent;
import com.google.api.client.json.gson.GsonFactory;
import com.google.api.client.util.ExponentialBackOff;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileInputStream;
import java.util.*;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public class Stock {
    static HttpRequestFactory requests;
    static String files;

    static byte[] download(String id, String range) throws Exception {
        HttpRequest request = requests.buildGetRequest(new GenericUrl(files + "/" + id + "?alt=media"));
        request.getHeaders().setRange(range);
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        request.execute().download(content);
        return content.toByteArray();
    }

    static String send(String method, String url, Map<String, ?> body) throws Exception {
        HttpContent content = body == null ? null : new JsonHttpContent(new GsonFactory(), body);
        return requests.buildRequest(method, new GenericUrl(url), content).execute().parseAsString();
    }

    static List<String> find(String name, String text) {
        List<String> values = new ArrayList<>();
        Matcher matcher = Pattern.compile("\"" + name + "\": \"([^\"]+)\"").matcher(text);
        while (matcher.find()) values.add(matcher.group(1));
        return values;
    }

    public static void main(String[] arguments) throws Exception {
        String base = arguments[0], events = base + "/calendar/v3/calendars/primary/events";
        files = base + "/drive/v3/files";
        GoogleCredential account = GoogleCredential.fromStream(
                new FileInputStream(arguments[1]), new NetHttpTransport(), new GsonFactory()).createScoped(List.of(
                "https://www.googleapis.com/auth/drive", "https://www.googleapis.com/auth/calendar"));
        HttpRequestInitializer signedIn = request -> {
            account.initialize(request);
            request.setUnsuccessfulResponseHandler(new HttpBackOffUnsuccessfulResponseHandler(new ExponentialBackOff()));
            if (request.getContent() != null) request.setEncoding(new GZipEncoding());
        };
        account.refreshToken();
        requests = new NetHttpTransport().createRequestFactory(signedIn);
        String user = find("emailAddress", send("GET", base + "/drive/v3/about?fields=user", null)).get(0);

        byte[] content = new byte[700_000];
        new Random(1).nextBytes(content);
        Map<String, Boolean> uploads = new HashMap<>();
        String id = "";
        for (String type : List.of("multipart", "resumable")) {
            AbstractInputStreamContent source = new InputStreamContent("image/png", new ByteArrayInputStream(content))
                    .setLength(content.length);
            HttpResponse response = new MediaHttpUploader(source, new NetHttpTransport(), signedIn)
                    .setMetadata(new JsonHttpContent(new GsonFactory(), Map.of("name", "Größe.bin")))
                    .setDirectUploadEnabled(type.equals("multipart")).setChunkSize(256 * 1024)
                    .upload(new GenericUrl(base + "/upload/drive/v3/files?uploadType=" + type));
            id = find("id", response.parseAsString()).get(0);
            uploads.put(type, Arrays.equals(download(id, null), content));
        }
        byte[] tail = download(id, "bytes=699990-");

        for (int number = 0; number < 4; number++) send("POST", files, Map.of("name", "listed"));
        List<String> listed = new ArrayList<>(), page = List.of("");
        while (!page.isEmpty()) {
            String text = send("GET", files + "?q=name%3D'listed'&pageSize=3&pageToken=" + page.get(0), null);
            listed.addAll(find("id", text));
            page = find("nextPageToken", text);
        }
        List<Integer> deleted = new ArrayList<>();
        BatchRequest batch = new BatchRequest(new NetHttpTransport(), signedIn).setBatchUrl(new GenericUrl(base + "/batch/drive/v3"));
        for (String each : listed) {
            batch.queue(requests.buildDeleteRequest(new GenericUrl(files + "/" + each)), Void.class, Void.class,
                    new BatchCallback<Void, Void>() {
                        public void onSuccess(Void nothing, HttpHeaders headers) { deleted.add(204); }
                        public void onFailure(Void error, HttpHeaders headers) { deleted.add(0); }
                    });
        }
        batch.execute();

        Map<String, ?> lunch = Map.of("summary", "Lunch", "start", Map.of("date", "2026-11-05"), "end", Map.of("date", "2026-11-06"));
        String event = find("id", send("POST", events, lunch)).get(0);
        String token = find("nextSyncToken", send("GET", events, null)).get(0);
        send("DELETE", events + "/" + event, null);
        List<String> changed = find("status", send("GET", events + "?syncToken=" + token, null));

        System.out.printf("{\"sign-in\": \"%s\", \"upload\": %s, \"chunks\": %s, \"range\": %s, \"pages\": %s, \"batch\": %s, "
                + "\"events\": %s, \"sync\": %s}%n", user, uploads.get("multipart"), uploads.get("resumable"),
                Arrays.equals(tail, Arrays.copyOfRange(content, 699_990, 700_000)), listed.size() == 4,
                deleted.equals(List.of(204, 204, 204, 204)), !event.isEmpty(), changed.equals(List.of("cancelled")));
    }
}
